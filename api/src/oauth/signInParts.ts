import type { AccessParts, Audit, ServerDrafts, ServerLookupParts, OAuthServices } from '@behalf/gateway';
import type { Origins } from '../origins.ts';
import { createAttemptCookies, type AttemptCookies } from './attemptCookies.ts';

/** What the doors of sign-ins at servers share. */
export interface ServerSignInParts extends ServerLookupParts, AccessParts {
  readonly oauth: OAuthServices;
  readonly drafts: Pick<ServerDrafts, 'authorize'>;
  readonly audit: Pick<Audit, 'record' | 'note'>;
  readonly origins: () => Origins;
}

export function attemptCookies({ origins }: Pick<ServerSignInParts, 'origins'>): AttemptCookies {
  return createAttemptCookies(origins());
}
