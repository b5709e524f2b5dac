import type { BlocksQuery, BlocksView, BlockView } from '@behalf/contracts';
import type { Principal } from '../principal/principal.ts';
import { findSaved, listSaved } from '../saved/findSaved.ts';
import { blockSummary, blockView } from './blockView.ts';
import type { ViewBlockParts } from './parts.ts';
import { blockShelf } from './sealedBlocks.ts';

/** A block as this caller may see it. One that is not for them does not exist. */
export async function viewBlock(parts: ViewBlockParts, principal: Principal, id: string): Promise<BlockView> {
  return blockView(parts, principal, await findSaved(parts, blockShelf(parts), principal, id));
}

/** Their own and those that are shared with them, in the order of their ids. */
export async function listBlocks(
  parts: ViewBlockParts,
  principal: Principal,
  query: BlocksQuery = {},
): Promise<BlocksView> {
  const { found, next } = await listSaved(parts, blockShelf(parts), principal, query);
  return { blocks: found.map((each) => blockSummary(parts, principal, each)), next };
}
