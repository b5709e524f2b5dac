import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { ConfigureParts } from './parts.ts';

/**
 * The caller with the role that their account has now. A request may wait half a minute for a server to answer: who was
 * disabled or lost their role meanwhile must not finish what they began.
 */
export async function loadCurrentCaller(
  { users }: Pick<ConfigureParts, 'users'>,
  principal: UserPrincipal,
): Promise<UserPrincipal> {
  const user = await users.findById(principal.userId);
  if (user?.tenant !== principal.tenant || user.disabledAt !== null) throw new GatewayError('AUTH_REQUIRED');
  return Object.freeze({ ...principal, role: user.role });
}
