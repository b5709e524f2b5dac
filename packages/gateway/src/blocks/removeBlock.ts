import type { UserPrincipal } from '../principal/principal.ts';
import { removeSaved, type WriteCondition } from '../saved/writeSaved.ts';
import type { SaveBlockParts } from './parts.ts';
import { blockShelf } from './sealedBlocks.ts';

export function removeBlock(
  parts: SaveBlockParts,
  principal: UserPrincipal,
  id: string,
  condition: WriteCondition = {},
): Promise<void> {
  return removeSaved(parts, blockShelf(parts), principal, id, {
    ...condition,
    told: ({ serverName, serverId }) => ({ server: serverName, serverId }),
  });
}
