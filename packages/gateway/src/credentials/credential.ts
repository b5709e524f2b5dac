import type { CredentialKey } from '../ports/index.ts';
import type { UpstreamTarget } from '../upstream/target.ts';

/**
 * What this caller presents to this server, and where. A connection does not know where it came from.
 */
export interface Credential {
  readonly target: UpstreamTarget;
  /**
   * Two credentials with one binding may share a session: the same address, the same values of the same user, the same
   * grant. A token that is merely refreshed keeps it. A hash: it tells nothing of what it binds.
   */
  readonly binding: string;
  /** Only one call at a time may be made with it: which credential it is. */
  readonly exclusiveKey?: CredentialKey;
  /** Which of the user's own it is, where they may have several. */
  readonly label?: string;
}
