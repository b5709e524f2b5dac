import type { BlockChange, BlockView } from '@behalf/contracts';
import { recorded } from '../access/recorded.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { stableText } from '../registry/stableText.ts';
import { findSaved } from '../saved/findSaved.ts';
import { blockKind } from '../saved/kinds.ts';
import { enterSavedWrite, requireVersion, savedEvent, type WriteCondition } from '../saved/writeSaved.ts';
import { blockView } from './blockView.ts';
import { schemasOf, type Saving } from './createBlock.ts';
import type { SaveBlockParts } from './parts.ts';
import { requireFitting } from './savedInputs.ts';
import { blockShelf, type Block } from './sealedBlocks.ts';
import { requireServer } from './serverOf.ts';
import { visibleTool } from './visibleTool.ts';

/** Changes what a block is called or brings. Its server and its tool are what it is: with others it is another block. */
export function changeBlock(
  parts: SaveBlockParts,
  saving: Saving,
  id: string,
  change: BlockChange & WriteCondition,
): Promise<BlockView> {
  const { principal } = saving;
  return recorded(parts.audit, savedEvent(principal, blockKind, 'change', { subject: id }), async (trail) => {
    const caller = await enterSavedWrite(parts, principal);
    const { thing: block, bits } = await findSaved(parts, blockShelf(parts), caller, id, 'EDIT');
    Object.assign(trail, { server: block.serverName, serverId: block.serverId });
    requireVersion(change.ifMatch, block.version);
    const next = await changed(parts, { ...saving, principal: caller }, block, change);
    const names = differences(block, next);
    if (names.length === 0) return { result: blockView(parts, caller, { thing: block, bits }), changed: [] };
    const stored = {
      ...next,
      ...{ version: block.version + 1, updatedAt: parts.clock.now(), updatedBy: caller.userId },
    };
    await parts.blocks.replace(stored, block.version);
    return { result: blockView(parts, caller, { thing: stored, bits }), changed: names };
  });
}

async function changed(
  parts: SaveBlockParts,
  saving: Saving,
  block: Block,
  { title, description, inputs }: BlockChange,
): Promise<Block> {
  const { description: before, ...rest } = block;
  const text = description === undefined ? before : (description ?? undefined);
  const next: Block = {
    ...rest,
    ...(title !== undefined && { title }),
    ...(text !== undefined && { description: text }),
  };
  if (inputs === undefined) return next;
  // They are saved for the tool as it is now, by somebody who has it.
  const { name } = requireServer(parts, saving.principal, block);
  const { server, tool } = await visibleTool(parts.asking, saving, name, block.tool);
  if (server.id !== block.serverId) throw new GatewayError('BLOCK_SERVER_GONE');
  const identity = { serverId: server.id, toolName: tool.name };
  requireFitting(parts.asking.arguments, identity, tool.inputSchema, inputs);
  const { outputSchema: _old, ...kept } = next;
  return { ...kept, serverName: server.name, inputs, ...schemasOf(tool) };
}

const fields = ['title', 'description', 'inputs', 'inputSchema', 'outputSchema'] as const;

function differences(before: Block, after: Block): string[] {
  return fields.filter((name) => stableText(before[name]) !== stableText(after[name]));
}
