import type { UpstreamTarget } from '../upstream/target.ts';

/** Whose connection it is and what it presents. Where the credential came from is none of this folder's business. */
export interface ConnectionHolder {
  /** Tenant and user as one opaque key. */
  readonly principal: string;
  readonly target: UpstreamTarget;
  /** Two credentials with one binding may use one session. A hash. */
  readonly binding: string;
  /** The inbound request, for servers whose definition names fields of it. */
  readonly requestKey?: string | undefined;
}
