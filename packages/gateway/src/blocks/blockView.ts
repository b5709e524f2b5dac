import type { BlockSummary, BlockView } from '@behalf/contracts';
import type { Principal } from '../principal/principal.ts';
import type { Found } from '../saved/findSaved.ts';
import type { ViewBlockParts } from './parts.ts';
import type { Block } from './sealedBlocks.ts';
import { serverOf } from './serverOf.ts';

type Parts = Pick<ViewBlockParts, 'acl' | 'registry'>;

/** What is shown of a block: field by field, so that one nobody has thought about stays hidden. */
export function blockSummary(
  parts: Parts,
  principal: Principal,
  { thing: block, bits }: Found<Block>,
): BlockSummary {
  const { id, title, description, tool, inputs, owner, version, createdAt, updatedAt } = block;
  return {
    id,
    title,
    ...(description !== undefined && { description }),
    server: serverOf(parts, principal, block),
    ...{ tool, inputs, owner, version, createdAt, updatedAt, permissions: bits },
  };
}

export function blockView(parts: Parts, principal: Principal, found: Found<Block>): BlockView {
  const { inputSchema, outputSchema } = found.thing;
  return {
    ...blockSummary(parts, principal, found),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
  };
}
