import { ALL_ACL_BITS, type BlockRequest, type BlockView } from '@behalf/contracts';
import { withAudit } from '../access/withAudit.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { blockKind } from '../saved/kinds.ts';
import { reauthorizeSavedWriter, insertSaved, createSavedEvent } from '../saved/writeSaved.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import { toBlockView } from './blockView.ts';
import type { SaveBlockParts } from './parts.ts';
import { requireValidInputs } from './savedInputs.ts';
import { getBlockCollection, type SavedBlock } from './sealedBlocks.ts';
import { requireVisibleTool } from './visibleTool.ts';

/** Who saves: a user, with the signal of their request. */
export type SaveInbound = Inbound & { readonly principal: UserPrincipal };

/** Saves a tool with inputs. It takes the tool's schemas of this moment along: what changes later can be told from them. */
export function createBlock(
  parts: SaveBlockParts,
  inbound: SaveInbound,
  request: BlockRequest,
): Promise<BlockView> {
  const { principal } = inbound;
  const { inputs, description } = request;
  const event = createSavedEvent(principal, blockKind, 'create', { server: request.server });
  return withAudit(parts.audit, event, async (details) => {
    const caller = await reauthorizeSavedWriter(parts, principal);
    const callerInbound = { ...inbound, principal: caller };
    const { server, tool } = await requireVisibleTool(
      parts.callParts,
      callerInbound,
      request.server,
      request.tool,
    );
    details.serverId = server.id;
    const identity = { serverId: server.id, toolName: tool.name };
    requireValidInputs(parts.callParts.arguments, identity, tool.inputSchema, inputs);
    const now = parts.clock.now();
    const block: SavedBlock = {
      id: parts.random.id(),
      ...{ tenant: caller.tenant, owner: caller.userId, serverId: server.id, tool: tool.name },
      ...{ version: 1, createdAt: now, updatedAt: now, updatedBy: caller.userId },
      title: request.title ?? toTitle(tool.title ?? tool.name),
      ...(description !== undefined && { description }),
      serverName: server.name,
      inputs,
      ...pickSchemas(tool),
    };
    details.subject = block.id;
    await insertSaved(parts, getBlockCollection(parts), block);
    return { result: toBlockView(parts, caller, { resource: block, bits: ALL_ACL_BITS }) };
  });
}

export function pickSchemas(tool: {
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
}): Pick<SavedBlock, 'inputSchema' | 'outputSchema'> {
  const { inputSchema, outputSchema } = tool;
  return { inputSchema, ...(outputSchema !== undefined && { outputSchema }) };
}

/** What a server calls its tool, in one line. */
function toTitle(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.slice(0, 200).replace(/[\uD800-\uDBFF]$/, '') || 'Block';
}
