import {
  ALL_ACL_BITS,
  type BlockChange,
  type BlockRequest,
  type BlockView,
  type SetChange,
  type SetRequest,
  type SetSteps,
  type SetView,
} from '@behalf/contracts';
import { withAudit } from '../audit/withAudit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../servers/definition.ts';
import { stableStringify } from '../servers/fields.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import { type ListToolsParts, listServerTools } from '../toolcall/list.ts';
import type { CatalogTool } from '../tools/catalog.ts';
import { requireValidInputs } from './inputs.ts';
import type { SaveBlockParts } from './runBlock.ts';
import type { SaveSetParts } from './runs.ts';
import {
  type WriteCondition,
  createSavedEvent,
  findVisibleSaved,
  insertSaved,
  reauthorizeSavedWriter,
  removeSaved,
  requireSaved,
  requireVersion,
} from './saved.ts';
import {
  type BlockSet,
  type SavedBlock,
  blockKind,
  getBlockCollection,
  getSetCollection,
  setKind,
} from './store.ts';
import { requireBlockServer, toBlockView, toSetView } from './view.ts';

/** Who saves: a user, with the signal of their request. */
type SaveInbound = Inbound & { readonly principal: UserPrincipal };

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

function pickSchemas(tool: {
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

export function removeBlock(
  parts: SaveBlockParts,
  principal: UserPrincipal,
  id: string,
  condition: WriteCondition = {},
): Promise<void> {
  return removeSaved(parts, getBlockCollection(parts), principal, id, {
    ...condition,
    toAuditDetails: ({ serverName, serverId }) => ({ server: serverName, serverId }),
  });
}

/** A tool that the caller has, as a call by them would find it. */
async function requireVisibleTool(
  parts: ListToolsParts,
  inbound: Inbound,
  serverName: string,
  toolName: string,
): Promise<{ server: ServerSnapshot; tool: CatalogTool }> {
  const { server, tools, code } = await listServerTools(parts, inbound, serverName);
  const tool = tools.find(({ name }) => name === toolName);
  if (!tool) throw new GatewayError(code ?? 'MCP_TOOL_NOT_FOUND');
  return { server, tool };
}

/** Saves blocks in an order. Its author has each of them; whoever runs it must have them as well. */
export function createSet(
  parts: SaveSetParts,
  principal: UserPrincipal,
  { title, description, steps }: SetRequest,
): Promise<SetView> {
  return withAudit(parts.audit, createSavedEvent(principal, setKind, 'create', {}), async (details) => {
    const caller = await reauthorizeSavedWriter(parts, principal);
    await requireBlocks(parts, caller, steps);
    const now = parts.clock.now();
    const set: BlockSet = {
      id: parts.random.id(),
      ...{ tenant: caller.tenant, owner: caller.userId, version: 1 },
      ...{ createdAt: now, updatedAt: now, updatedBy: caller.userId },
      ...{ title, ...(description !== undefined && { description }), steps },
    };
    details.subject = set.id;
    await insertSaved(parts, getSetCollection(parts), set);
    return { result: toSetView({ resource: set, bits: ALL_ACL_BITS }) };
  });
}

export function changeSet(
  parts: SaveSetParts,
  principal: UserPrincipal,
  id: string,
  change: SetChange & WriteCondition,
): Promise<SetView> {
  return withAudit(parts.audit, createSavedEvent(principal, setKind, 'change', { subject: id }), async () => {
    const caller = await reauthorizeSavedWriter(parts, principal);
    const { resource: set, bits } = await requireSaved(parts, getSetCollection(parts), caller, id, 'EDIT');
    requireVersion(change.ifMatch, set.version);
    if (change.steps) await requireBlocks(parts, caller, change.steps);
    const updated = applySetChange(set, change);
    const changedNames = comparedSetFields.filter(
      (name) => stableStringify(set[name]) !== stableStringify(updated[name]),
    );
    if (changedNames.length === 0) return { result: toSetView({ resource: set, bits }), changed: [] };
    const record = {
      ...updated,
      ...{ version: set.version + 1, updatedAt: parts.clock.now(), updatedBy: caller.userId },
    };
    await parts.sets.replace(record, set.version);
    return { result: toSetView({ resource: record, bits }), changed: changedNames };
  });
}

export function removeSet(
  parts: SaveSetParts,
  principal: UserPrincipal,
  id: string,
  condition: WriteCondition = {},
): Promise<void> {
  return removeSaved(parts, getSetCollection(parts), principal, id, condition);
}

const comparedSetFields = ['title', 'description', 'steps'] as const;

function applySetChange(set: BlockSet, { title, description, steps }: SetChange): BlockSet {
  const { description: previousDescription, ...rest } = set;
  const newDescription = description === undefined ? previousDescription : (description ?? undefined);
  return {
    ...rest,
    ...(title !== undefined && { title }),
    ...(newDescription !== undefined && { description: newDescription }),
    ...(steps !== undefined && { steps }),
  };
}

/** SET_INVALID unless each step is a block of the caller's, and brings nothing to an input that the block fixes. */
async function requireBlocks(parts: SaveSetParts, caller: UserPrincipal, steps: SetSteps): Promise<void> {
  const blocks = new Map(
    await Promise.all(
      [...new Set(steps.map(({ block }) => block))].map(
        async (id) =>
          [id, (await findVisibleSaved(parts, getBlockCollection(parts), caller, id))?.resource] as const,
      ),
    ),
  );
  const errors = steps.flatMap(({ block: id, inputs }, index) => {
    const block = blocks.get(id);
    if (!block) {
      return [
        { path: `steps.${index}.block`, code: 'unknown_block', message: 'is not a block that you can use' },
      ];
    }
    return Object.keys(inputs)
      .filter((name) => Object.hasOwn(block.inputs, name) && block.inputs[name]?.mode === 'fixed')
      .map((name) => ({
        path: `steps.${index}.inputs.${name}`,
        code: 'input_fixed',
        message: 'is fixed by the block',
      }));
  });
  if (errors.length > 0) throw new GatewayError('SET_INVALID', { errors });
}
