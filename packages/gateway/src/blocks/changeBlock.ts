import type { BlockChange, BlockView } from '@behalf/contracts';
import { withAudit } from '../access/withAudit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { stableStringify } from '../registry/stableStringify.ts';
import { requireSaved } from '../saved/findSaved.ts';
import { blockKind } from '../saved/kinds.ts';
import {
  reauthorizeSavedWriter,
  requireVersion,
  createSavedEvent,
  type WriteCondition,
} from '../saved/writeSaved.ts';
import { toBlockView } from './blockView.ts';
import { pickSchemas, type SaveInbound } from './createBlock.ts';
import type { SaveBlockParts } from './parts.ts';
import { requireValidInputs } from './savedInputs.ts';
import { getBlockCollection, type SavedBlock } from './sealedBlocks.ts';
import { requireBlockServer } from './blockServer.ts';
import { requireVisibleTool } from './visibleTool.ts';

/** Changes what a block is called or brings. Its server and its tool are what it is: with others it is another block. */
export function changeBlock(
  parts: SaveBlockParts,
  inbound: SaveInbound,
  id: string,
  change: BlockChange & WriteCondition,
): Promise<BlockView> {
  const { principal } = inbound;
  return withAudit(
    parts.audit,
    createSavedEvent(principal, blockKind, 'change', { subject: id }),
    async (details) => {
      const caller = await reauthorizeSavedWriter(parts, principal);
      const { resource: block, bits } = await requireSaved(
        parts,
        getBlockCollection(parts),
        caller,
        id,
        'EDIT',
      );
      Object.assign(details, { server: block.serverName, serverId: block.serverId });
      requireVersion(change.ifMatch, block.version);
      const next = await applyBlockChange(parts, { ...inbound, principal: caller }, block, change);
      const changedNames = findDifferences(block, next);
      if (changedNames.length === 0)
        return { result: toBlockView(parts, caller, { resource: block, bits }), changed: [] };
      const updated = {
        ...next,
        ...{ version: block.version + 1, updatedAt: parts.clock.now(), updatedBy: caller.userId },
      };
      await parts.blocks.replace(updated, block.version);
      return { result: toBlockView(parts, caller, { resource: updated, bits }), changed: changedNames };
    },
  );
}

async function applyBlockChange(
  parts: SaveBlockParts,
  inbound: SaveInbound,
  block: SavedBlock,
  { title, description, inputs }: BlockChange,
): Promise<SavedBlock> {
  const { description: previousDescription, ...rest } = block;
  const newDescription = description === undefined ? previousDescription : (description ?? undefined);
  const next: SavedBlock = {
    ...rest,
    ...(title !== undefined && { title }),
    ...(newDescription !== undefined && { description: newDescription }),
  };
  if (inputs === undefined) return next;
  // They are saved for the tool as it is now, by somebody who has it.
  const { name } = requireBlockServer(parts, inbound.principal, block);
  const { server, tool } = await requireVisibleTool(parts.callParts, inbound, name, block.tool);
  if (server.id !== block.serverId) throw new GatewayError('BLOCK_SERVER_GONE');
  const identity = { serverId: server.id, toolName: tool.name };
  requireValidInputs(parts.callParts.arguments, identity, tool.inputSchema, inputs);
  const { outputSchema: _previousSchema, ...blockWithoutSchema } = next;
  return { ...blockWithoutSchema, serverName: server.name, inputs, ...pickSchemas(tool) };
}

const comparedBlockFields = ['title', 'description', 'inputs', 'inputSchema', 'outputSchema'] as const;

function findDifferences(before: SavedBlock, after: SavedBlock): string[] {
  return comparedBlockFields.filter((name) => stableStringify(before[name]) !== stableStringify(after[name]));
}
