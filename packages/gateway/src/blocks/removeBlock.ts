import type { UserPrincipal } from '../principal/principal.ts';
import { removeSaved, type WriteCondition } from '../saved/writeSaved.ts';
import type { SaveBlockParts } from './parts.ts';
import { getBlockCollection } from './sealedBlocks.ts';

export function removeBlock(
  parts: SaveBlockParts,
  principal: UserPrincipal,
  id: string,
  condition: WriteCondition = {},
): Promise<void> {
  return removeSaved(parts, getBlockCollection(parts), principal, id, {
    ...condition,
    toAuditDetails: ({ serverName, serverId }) => ({ server: serverName, serverId }),
  });
}
