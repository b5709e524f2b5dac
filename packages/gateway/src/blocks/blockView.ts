import type { BlockSummary, BlockView } from '@behalf/contracts';
import type { Principal } from '../principal/principal.ts';
import type { FoundBlock } from './findBlock.ts';
import type { ViewBlockParts } from './parts.ts';
import { serverOf } from './serverOf.ts';

type Parts = Pick<ViewBlockParts, 'acl' | 'registry'>;

/** What is shown of a block: field by field, so that one nobody has thought about stays hidden. */
export function blockSummary(parts: Parts, principal: Principal, { block, bits }: FoundBlock): BlockSummary {
  const { id, title, description, tool, inputs, owner, version, createdAt, updatedAt } = block;
  return {
    id,
    title,
    ...(description !== undefined && { description }),
    server: serverOf(parts, principal, block),
    ...{ tool, inputs, owner, version, createdAt, updatedAt, permissions: bits },
  };
}

export function blockView(parts: Parts, principal: Principal, found: FoundBlock): BlockView {
  const { inputSchema, outputSchema } = found.block;
  return {
    ...blockSummary(parts, principal, found),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
  };
}
