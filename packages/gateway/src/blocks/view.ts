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
import type { ServerSnapshot } from '../servers/definition.ts';
import type { ReadBlockParts } from './runBlock.ts';
import type { ViewSetParts } from './runs.ts';
import { type VisibleResource, listSaved, requireSaved } from './saved.ts';
import { type BlockSet, type SavedBlock, getBlockCollection, getSetCollection } from './store.ts';

/** A block as this caller may see it. One that is not for them does not exist. */
export async function viewBlock(parts: ReadBlockParts, principal: Principal, id: string): Promise<BlockView> {
  return toBlockView(parts, principal, await requireSaved(parts, getBlockCollection(parts), principal, id));
}

/** Their own and those that are shared with them, in the order of their ids. */
export async function listBlocks(
  parts: ReadBlockParts,
  principal: Principal,
  query: BlocksQuery = {},
): Promise<BlocksView> {
  const { visible, next } = await listSaved(parts, getBlockCollection(parts), principal, query);
  return { blocks: visible.map((entry) => toBlockSummary(parts, principal, entry)), next };
}

type BlockViewParts = Pick<ReadBlockParts, 'acl' | 'registry'>;

/** What is shown of a block: field by field, so that one nobody has thought about stays hidden. */
function toBlockSummary(
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

type BlockServerParts = Pick<ReadBlockParts, 'acl' | 'registry'>;

/** The server of a block as the caller has it. By its id: what was made anew under its name is not it. */
export function describeBlockServer(
  { acl, registry }: BlockServerParts,
  principal: Principal,
  block: SavedBlock,
): BlockServer {
  const server = registry.get(principal.tenant, block.serverId);
  if (!server) return { name: block.serverName, state: 'gone' };
  // Who was given the block was told that it needs this one: the name is no secret to them.
  return { name: server.name, state: acl.canUse(principal, server) ? 'available' : 'no_access' };
}

/** A block gives nobody its server: whoever runs it must have that themselves, and is told which it is. */
export function requireBlockServer(
  parts: BlockServerParts,
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

/** What is shown of a set: field by field, so that one nobody has thought about stays hidden. */
export function toSetView({ resource, bits }: VisibleResource<BlockSet>): SetView {
  const { id, title, description, steps, owner, version, createdAt, updatedAt } = resource;
  return {
    ...{ id, title, ...(description !== undefined && { description }), steps },
    ...{ owner, version, createdAt, updatedAt, permissions: bits },
  };
}

/** A set as this caller may see it. One that is not for them does not exist. */
export async function viewSet(parts: ViewSetParts, principal: Principal, id: string): Promise<SetView> {
  return toSetView(await requireSaved(parts, getSetCollection(parts), principal, id));
}

/** Their own and those that are shared with them, in the order of their ids. */
export async function listSets(
  parts: ViewSetParts,
  principal: Principal,
  query: SetsQuery = {},
): Promise<SetsView> {
  const { visible, next } = await listSaved(parts, getSetCollection(parts), principal, query);
  return { sets: visible.map(toSetView), next };
}
