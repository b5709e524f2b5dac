import type {
  BlockChange,
  BlockRequest,
  BlockView,
  SetChange,
  SetRequest,
  SetSteps,
  SetView,
} from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import { listServerTools } from '../toolcall/list.ts';
import type { CatalogTool } from '../tools/catalog.ts';
import { requireValidInputs } from './inputs.ts';
import type { BlockParts } from './runBlock.ts';
import type { SetParts } from './runs.ts';
import type { WriteCondition } from './saved.ts';
import type { SavedBlock } from './store.ts';
import { requireBlockServer, toBlockView, toSetView } from './view.ts';

/** The request of a user who saves. */
type SaveInbound = Inbound & { readonly principal: UserPrincipal };

/** Saves a tool with inputs. The tool's current schemas are saved with it, so that later changes of the tool can be detected. */
export async function createBlock(
  parts: BlockParts,
  inbound: SaveInbound,
  request: BlockRequest,
): Promise<BlockView> {
  const { server: serverName, inputs, description } = request;
  const created = await parts.blocks.create(
    inbound.principal,
    { server: serverName },
    async (principal, details) => {
      const { server, tool } = await requireVisibleTool(
        parts,
        { ...inbound, principal },
        serverName,
        request.tool,
      );
      details.serverId = server.id;
      const identity = { serverId: server.id, toolName: tool.name };
      requireValidInputs(parts.callParts.arguments, identity, tool.inputSchema, inputs);
      return {
        ...{ serverId: server.id, serverName: server.name, tool: tool.name, inputs },
        title: request.title ?? toTitle(tool.title ?? tool.name),
        ...(description !== undefined && { description }),
        ...pickSchemas(tool),
      };
    },
  );
  return toBlockView(parts, created.caller, created);
}

function pickSchemas({
  inputSchema,
  outputSchema,
}: Pick<CatalogTool, 'inputSchema' | 'outputSchema'>): Pick<SavedBlock, 'inputSchema' | 'outputSchema'> {
  return { inputSchema, ...(outputSchema !== undefined && { outputSchema }) };
}

/** The server's title of a tool, as one line. Does not end with half of a surrogate pair. */
function toTitle(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.slice(0, 200).replace(/[\uD800-\uDBFF]$/, '') || 'Block';
}

/** Changes title, description or inputs. Server and tool are fixed. New inputs also save the tool's current schemas. */
export async function changeBlock(
  parts: BlockParts,
  inbound: SaveInbound,
  id: string,
  change: BlockChange & WriteCondition,
): Promise<BlockView> {
  const { inputs } = change;
  const changed = await parts.blocks.change(inbound.principal, id, change, async (block, principal) => {
    const next = applyTexts(block, change);
    if (inputs === undefined) return next;
    // The caller must have the tool, and the inputs must fit the tool as it is now.
    const { name } = requireBlockServer(parts, principal, block);
    const { server, tool } = await requireVisibleTool(parts, { ...inbound, principal }, name, block.tool);
    if (server.id !== block.serverId) throw new GatewayError('BLOCK_SERVER_GONE');
    const identity = { serverId: server.id, toolName: tool.name };
    requireValidInputs(parts.callParts.arguments, identity, tool.inputSchema, inputs);
    const { outputSchema: _previousSchema, ...blockWithoutSchema } = next;
    return { ...blockWithoutSchema, serverName: server.name, inputs, ...pickSchemas(tool) };
  });
  return toBlockView(parts, changed.caller, changed);
}

/** An absent field keeps its value. `description: null` removes the description. */
function applyTexts<T extends { title: string; description?: string | undefined }>(
  resource: T,
  { title, description }: Pick<BlockChange, 'title' | 'description'>,
): T {
  const { description: previous, ...rest } = resource;
  const next = description === undefined ? previous : (description ?? undefined);
  return {
    ...rest,
    ...(title !== undefined && { title }),
    ...(next !== undefined && { description: next }),
  } as T;
}

/** Lists the tools as a call of this caller would. */
async function requireVisibleTool(
  { callParts }: BlockParts,
  inbound: Inbound,
  serverName: string,
  toolName: string,
): Promise<{ server: ServerSnapshot; tool: CatalogTool }> {
  const { server, tools, code } = await listServerTools(callParts, inbound, serverName);
  const tool = tools.find(({ name }) => name === toolName);
  if (!tool) throw new GatewayError(code ?? 'MCP_TOOL_NOT_FOUND');
  return { server, tool };
}

/** Saves an ordered list of blocks. The author must see each block; so must each user who runs the set. */
export async function createSet(
  parts: SetParts,
  principal: UserPrincipal,
  { title, description, steps }: SetRequest,
): Promise<SetView> {
  const created = await parts.sets.create(principal, {}, async (caller) => {
    await requireBlocks(parts, caller, steps);
    return { title, ...(description !== undefined && { description }), steps };
  });
  return toSetView(created);
}

export async function changeSet(
  parts: SetParts,
  principal: UserPrincipal,
  id: string,
  change: SetChange & WriteCondition,
): Promise<SetView> {
  const { steps } = change;
  const changed = await parts.sets.change(principal, id, change, async (set, caller) => {
    if (steps) await requireBlocks(parts, caller, steps);
    return { ...applyTexts(set, change), ...(steps && { steps }) };
  });
  return toSetView(changed);
}

/** SET_INVALID unless the caller sees the block of each step, and no step sets an input that its block fixes. */
async function requireBlocks({ blocks }: SetParts, caller: UserPrincipal, steps: SetSteps): Promise<void> {
  const ids = [...new Set(steps.map(({ block }) => block))];
  const found = await Promise.all(
    ids.map(async (id) => [id, (await blocks.find(caller, id))?.resource] as const),
  );
  const blocksById = new Map(found);
  const errors = steps.flatMap(({ block: id, inputs }, index) => {
    const block = blocksById.get(id);
    if (!block)
      return [
        { path: `steps.${index}.block`, code: 'unknown_block', message: 'is not a block that you can use' },
      ];
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
