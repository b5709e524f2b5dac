import type { Clock } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ApiKeyStore, SessionStore, UserStore } from '../ports/index.ts';
import type { Authentication, UserPrincipal } from '../principal/principal.ts';

export interface RunnerParts {
  readonly users: Pick<UserStore, 'findById'>;
  /** By what runners were known when they began. */
  readonly signIns: {
    readonly sessions: Pick<SessionStore, 'openAmong'>;
    readonly apiKeys: Pick<ApiKeyStore, 'liveAmong'>;
  };
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Who runs it, as their account is now: a run goes on without them, and must not when they were disabled, or signed out
 * since it began, or when the key or the sign-in that began it was taken back.
 */
export async function runnerOf(
  parts: RunnerParts,
  principal: UserPrincipal,
  since: number,
): Promise<UserPrincipal> {
  const user = await parts.users.findById(principal.userId);
  const isTheirs = user?.tenant === principal.tenant && user.disabledAt === null;
  if (!isTheirs || (user.signedOutAt ?? -1) >= since) throw new GatewayError('AUTH_REQUIRED');
  if (!(await stands(parts, principal.authentication))) throw new GatewayError('AUTH_REQUIRED');
  return user.role === principal.role ? principal : Object.freeze({ ...principal, role: user.role });
}

/** A token of the identity provider ends by itself, mostly sooner than what it began. */
async function stands({ signIns, clock }: RunnerParts, by: Authentication): Promise<boolean> {
  const now = clock.now();
  if (by.via === 'api_key') return (await signIns.apiKeys.liveAmong([by.key], now)).length > 0;
  const session = by.via === 'session' ? by.session : by.grant?.session;
  return session === undefined || (await signIns.sessions.openAmong([session], now)).length > 0;
}
