import { currentCaller } from '../configure/currentCaller.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { SaveBlockParts } from './parts.ts';

/** By what the store says now: a block stays, so it may not rest on a right or an account that was taken away a second ago. */
export async function enterBlockWrite(
  parts: Pick<SaveBlockParts, 'acl' | 'roles' | 'users'>,
  principal: UserPrincipal,
): Promise<UserPrincipal> {
  const { acl, roles } = parts;
  const [caller] = await Promise.all([currentCaller(parts, principal), acl.refresh(), roles.refresh()]);
  roles.requirePermission(caller, 'USE');
  return caller;
}
