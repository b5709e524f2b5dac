import type { BlocksQuery, BlocksView, BlockView } from '@behalf/contracts';
import type { Principal } from '../principal/principal.ts';
import { requireSaved, listSaved } from '../saved/findSaved.ts';
import { toBlockSummary, toBlockView } from './blockView.ts';
import type { ReadBlockParts } from './parts.ts';
import { getBlockCollection } from './sealedBlocks.ts';

/** A block as this caller may see it. One that is not for them does not exist. */
export async function viewBlock(parts: ReadBlockParts, principal: Principal, id: string): Promise<BlockView> {
  return toBlockView(parts, principal, await requireSaved(parts, getBlockCollection(parts), principal, id));
}

/** Their own and those that are shared with them, in the order of their ids. */
export async function listBlocks(
  parts: ReadBlockParts,
  principal: Principal,
  query: BlocksQuery = {},
): Promise<BlocksView> {
  const { visible, next } = await listSaved(parts, getBlockCollection(parts), principal, query);
  return { blocks: visible.map((entry) => toBlockSummary(parts, principal, entry)), next };
}
