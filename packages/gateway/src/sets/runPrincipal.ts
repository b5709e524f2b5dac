import type { Clock } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ApiKeyStore, SessionStore, UserStore } from '../ports/index.ts';
import type { Authentication, UserPrincipal } from '../principal/principal.ts';

export interface RunPrincipalParts {
  readonly users: Pick<UserStore, 'findById'>;
  /** By what runners were known when they began. */
  readonly authenticationStores: {
    readonly sessions: Pick<SessionStore, 'filterActive'>;
    readonly apiKeys: Pick<ApiKeyStore, 'filterActive'>;
  };
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Who runs it, as their account is now: a run goes on without them, and must not when they were disabled, or signed out
 * since it began, or when the key or the sign-in that began it was taken back.
 */
export async function reloadRunPrincipal(
  parts: RunPrincipalParts,
  principal: UserPrincipal,
  startedAt: number,
): Promise<UserPrincipal> {
  const user = await parts.users.findById(principal.userId);
  const isActive = user?.tenant === principal.tenant && user.disabledAt === null;
  if (!isActive || (user.signedOutAt ?? -1) >= startedAt) throw new GatewayError('AUTH_REQUIRED');
  if (!(await isStillAuthenticated(parts, principal.authentication))) throw new GatewayError('AUTH_REQUIRED');
  return user.role === principal.role ? principal : Object.freeze({ ...principal, role: user.role });
}

/** A token of the identity provider ends by itself, mostly sooner than what it began. */
async function isStillAuthenticated(
  { authenticationStores, clock }: RunPrincipalParts,
  authentication: Authentication,
): Promise<boolean> {
  const now = clock.now();
  if (authentication.via === 'api_key')
    return (await authenticationStores.apiKeys.filterActive([authentication.key], now)).length > 0;
  const session = authentication.via === 'session' ? authentication.session : authentication.grant?.session;
  return (
    session === undefined || (await authenticationStores.sessions.filterActive([session], now)).length > 0
  );
}
