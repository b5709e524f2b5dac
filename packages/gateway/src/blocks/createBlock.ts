import { ALL_ACL_BITS, type BlockRequest, type BlockView } from '@behalf/contracts';
import { recorded } from '../access/recorded.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { blockKind } from '../saved/kinds.ts';
import { enterSavedWrite, insertSaved, savedEvent } from '../saved/writeSaved.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import { blockView } from './blockView.ts';
import type { SaveBlockParts } from './parts.ts';
import { requireFitting } from './savedInputs.ts';
import { blockShelf, type Block } from './sealedBlocks.ts';
import { visibleTool } from './visibleTool.ts';

/** Who saves: a user, with the signal of their request. */
export type Saving = Inbound & { readonly principal: UserPrincipal };

/** Saves a tool with inputs. It takes the tool's schemas of this moment along: what changes later can be told from them. */
export function createBlock(
  parts: SaveBlockParts,
  saving: Saving,
  request: BlockRequest,
): Promise<BlockView> {
  const { principal } = saving;
  const { inputs, description } = request;
  const attempt = savedEvent(principal, blockKind, 'create', { server: request.server });
  return recorded(parts.audit, attempt, async (trail) => {
    const caller = await enterSavedWrite(parts, principal);
    const asking = { ...saving, principal: caller };
    const { server, tool } = await visibleTool(parts.asking, asking, request.server, request.tool);
    trail.serverId = server.id;
    const identity = { serverId: server.id, toolName: tool.name };
    requireFitting(parts.asking.arguments, identity, tool.inputSchema, inputs);
    const now = parts.clock.now();
    const block: Block = {
      id: parts.random.id(),
      ...{ tenant: caller.tenant, owner: caller.userId, serverId: server.id, tool: tool.name },
      ...{ version: 1, createdAt: now, updatedAt: now, updatedBy: caller.userId },
      title: request.title ?? shortened(tool.title ?? tool.name),
      ...(description !== undefined && { description }),
      serverName: server.name,
      inputs,
      ...schemasOf(tool),
    };
    trail.subject = block.id;
    await insertSaved(parts, blockShelf(parts), block);
    return { result: blockView(parts, caller, { thing: block, bits: ALL_ACL_BITS }) };
  });
}

export function schemasOf(tool: {
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
}): Pick<Block, 'inputSchema' | 'outputSchema'> {
  const { inputSchema, outputSchema } = tool;
  return { inputSchema, ...(outputSchema !== undefined && { outputSchema }) };
}

/** What a server calls its tool, in one line. */
function shortened(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.slice(0, 200).replace(/[\uD800-\uDBFF]$/, '') || 'Block';
}
