import type {
  BlockServer,
  BlockSummary,
  BlockView,
  BlocksQuery,
  BlocksView,
  SetView,
  SetsQuery,
  SetsView,
} from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { BlockParts } from './runBlock.ts';
import type { SetParts } from './runs.ts';
import type { VisibleResource } from './saved.ts';
import type { BlockSet, SavedBlock } from './store.ts';

export async function viewBlock(parts: BlockParts, principal: Principal, id: string): Promise<BlockView> {
  return toBlockView(parts, principal, await parts.blocks.require(principal, id));
}

export async function listBlocks(
  parts: BlockParts,
  principal: Principal,
  query: BlocksQuery = {},
): Promise<BlocksView> {
  const { visible, next } = await parts.blocks.list(principal, query);
  return { blocks: visible.map((entry) => toBlockSummary(parts, principal, entry)), next };
}

/** Lists the fields explicitly, so that a new field of a block is not shown by accident. */
function toBlockSummary(
  parts: BlockParts,
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
  parts: BlockParts,
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

/** The server is found by id: another server with the same name is not the server of the block. */
export function describeBlockServer(
  { acl, registry }: BlockParts,
  principal: Principal,
  block: SavedBlock,
): BlockServer {
  const server = registry.get(principal.tenant, block.serverId);
  if (!server) return { name: block.serverName, state: 'gone' };
  // The name is not secret: a user who sees the block needs to know which server it requires.
  return { name: server.name, state: acl.canUse(principal, server) ? 'available' : 'no_access' };
}

/** A block grants no access to its server: the caller needs access, and the error names the server. */
export function requireBlockServer(
  parts: BlockParts,
  principal: Principal,
  block: SavedBlock,
): ServerSnapshot {
  const { name, state } = describeBlockServer(parts, principal, block);
  const server = parts.registry.get(principal.tenant, block.serverId);
  if (!server || state === 'gone') {
    throw new GatewayError('BLOCK_SERVER_GONE', {
      detail: `The server "${name}" of this block was removed. The block cannot run.`,
    });
  }
  if (state !== 'available') {
    throw new GatewayError('BLOCK_SERVER_FORBIDDEN', {
      detail: `This block runs a tool of the server "${name}", which is not shared with you. Ask the owner of the server.`,
    });
  }
  return server;
}

/** Lists the fields explicitly, so that a new field of a set is not shown by accident. */
export function toSetView({ resource, bits }: VisibleResource<BlockSet>): SetView {
  const { id, title, description, steps, owner, version, createdAt, updatedAt } = resource;
  return {
    ...{ id, title, ...(description !== undefined && { description }), steps },
    ...{ owner, version, createdAt, updatedAt, permissions: bits },
  };
}

export async function viewSet({ sets }: SetParts, principal: Principal, id: string): Promise<SetView> {
  return toSetView(await sets.require(principal, id));
}

export async function listSets(
  { sets }: SetParts,
  principal: Principal,
  query: SetsQuery = {},
): Promise<SetsView> {
  const { visible, next } = await sets.list(principal, query);
  return { sets: visible.map(toSetView), next };
}
