import { actorOf } from '../audit/audit.ts';
import type { UserPrincipal } from '../principal/principal.ts';

/** A change of blocks, as it is written down. */
export function blockEvent(
  principal: UserPrincipal,
  action: 'block.create' | 'block.change' | 'block.delete',
  about: { readonly server?: string; readonly subject?: string },
) {
  const { tenant } = principal;
  return { kind: 'config', action, door: 'rest', tenant, actor: actorOf(principal), ...about } as const;
}
