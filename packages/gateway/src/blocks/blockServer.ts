import type { BlockServer } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { ReadBlockParts } from './parts.ts';
import type { SavedBlock } from './sealedBlocks.ts';

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
