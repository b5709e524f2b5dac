import { GatewayError } from '../errors/gatewayError.ts';
import type { UserStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';

/**
 * Who runs it, as their account is now: a run goes on without them, and must not when they were disabled, or signed out
 * everywhere since it began.
 */
export async function runnerOf(
  { users }: { readonly users: Pick<UserStore, 'findById'> },
  principal: UserPrincipal,
  since: number,
): Promise<UserPrincipal> {
  const user = await users.findById(principal.userId);
  const isTheirs = user?.tenant === principal.tenant && user.disabledAt === null;
  if (!isTheirs || (user.signedOutAt ?? -1) >= since) throw new GatewayError('AUTH_REQUIRED');
  return user.role === principal.role ? principal : Object.freeze({ ...principal, role: user.role });
}
