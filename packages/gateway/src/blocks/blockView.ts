import type { BlockSummary, BlockView } from '@behalf/contracts';
import type { Principal } from '../principal/principal.ts';
import type { VisibleResource } from '../saved/findSaved.ts';
import type { ReadBlockParts } from './parts.ts';
import type { SavedBlock } from './sealedBlocks.ts';
import { describeBlockServer } from './blockServer.ts';

type BlockViewParts = Pick<ReadBlockParts, 'acl' | 'registry'>;

/** What is shown of a block: field by field, so that one nobody has thought about stays hidden. */
export function toBlockSummary(
  parts: BlockViewParts,
  principal: Principal,
  { resource: block, bits }: VisibleResource<SavedBlock>,
): BlockSummary {
  const { id, title, description, tool, inputs, owner, version, createdAt, updatedAt } = block;
  return {
    id,
    title,
    ...(description !== undefined && { description }),
    server: describeBlockServer(parts, principal, block),
    ...{ tool, inputs, owner, version, createdAt, updatedAt, permissions: bits },
  };
}

export function toBlockView(
  parts: BlockViewParts,
  principal: Principal,
  visible: VisibleResource<SavedBlock>,
): BlockView {
  const { inputSchema, outputSchema } = visible.resource;
  return {
    ...toBlockSummary(parts, principal, visible),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
  };
}
