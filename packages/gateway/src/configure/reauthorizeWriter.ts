import type { UserPrincipal } from '../principal/principal.ts';
import { loadCurrentCaller } from './loadCurrentCaller.ts';
import type { ConfigureParts } from './parts.ts';

/**
 * Whether the caller's role lets them define servers, by what the store says now: a definition stays, so it may not
 * rest on a permission, a role or an account that was taken away a second ago. Without the store it is refused. What
 * follows is decided for the caller that comes out of it.
 */
export async function reauthorizeWriter(
  parts: Pick<ConfigureParts, 'acl' | 'roles' | 'users'>,
  principal: UserPrincipal,
): Promise<UserPrincipal> {
  const { acl, roles } = parts;
  const [caller] = await Promise.all([loadCurrentCaller(parts, principal), acl.refresh(), roles.refresh()]);
  roles.requirePermission(caller, 'USE');
  roles.requirePermission(caller, 'CREATE');
  return caller;
}
