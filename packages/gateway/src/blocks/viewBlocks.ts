import { grants, type BlocksQuery, type BlocksView, type BlockView } from '@behalf/contracts';
import type { Principal } from '../principal/principal.ts';
import { blockSummary, blockView } from './blockView.ts';
import { findBlock, withAdmins } from './findBlock.ts';
import { LONGEST_PAGE } from './limits.ts';
import type { ViewBlockParts } from './parts.ts';

/** A block as this caller may see it. One that is not for them does not exist. */
export async function viewBlock(parts: ViewBlockParts, principal: Principal, id: string): Promise<BlockView> {
  return blockView(parts, principal, await findBlock(parts, principal, id));
}

/** Their own and those that are shared with them, in the order of their ids. */
export async function listBlocks(
  parts: ViewBlockParts,
  principal: Principal,
  { limit = LONGEST_PAGE, after }: BlocksQuery = {},
): Promise<BlocksView> {
  parts.roles.requirePermission(principal, 'USE');
  const seen = parts.acl.blocksOf(principal);
  const ids = [...seen.keys()]
    .filter((id) => grants(seen.get(id) ?? 0, 'VIEW') && (after === undefined || id > after))
    .sort();
  const page = ids.slice(0, Math.min(limit, LONGEST_PAGE));
  const blocks = await parts.blocks.findMany(principal.tenant, page);
  return {
    blocks: blocks.map((block) =>
      blockSummary(parts, principal, { block, bits: withAdmins(principal, seen.get(block.id) ?? 0) }),
    ),
    next: page.length < ids.length ? (page.at(-1) ?? null) : null,
  };
}
