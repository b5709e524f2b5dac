import { ALL_ACL_BITS, type ShareRequest, type SharingView } from '@behalf/contracts';
import { blockResource } from '../access/acl.ts';
import { shareResource, viewSharing, type Shareable } from '../access/shareResource.ts';
import { actorOf } from '../audit/audit.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { findBlock, type FoundBlock } from './findBlock.ts';
import type { SaveBlockParts } from './parts.ts';

/** With whom a block is shared: for those who may share it. */
export async function blockSharing(
  parts: SaveBlockParts,
  principal: UserPrincipal,
  id: string,
): Promise<SharingView> {
  return viewSharing(parts, principal, asShareable(await findBlock(parts, principal, id, 'SHARE')));
}

/** Shares a block, or takes that back. Nobody is given its server by it, nor anybody's credential. */
export function shareBlock(
  parts: SaveBlockParts,
  principal: UserPrincipal,
  id: string,
  request: ShareRequest,
): Promise<SharingView> {
  const what = { kind: 'permission', action: 'block.share', subject: id } as const;
  const attempt = { ...what, tenant: principal.tenant, actor: actorOf(principal), door: 'rest' } as const;
  const ask = async () => {
    parts.roles.requirePermission(principal, 'SHARE');
    return asShareable(await findBlock(parts, principal, id, 'SHARE'));
  };
  return shareResource(parts, principal, { attempt, ask }, request);
}

/** Nobody but an owner could give it to somebody again, so one must stay. */
function asShareable({ block, bits }: FoundBlock): Shareable {
  return {
    ...{ resource: blockResource(block.id), bits, givable: ALL_ACL_BITS },
    ...{ isForEverybody: false, mayOrphan: false, denial: 'BLOCK_FORBIDDEN' },
  };
}
