import type { SealContext } from '@behalf/kernel';
import type { OwnedRecord, OwnedStore } from './owned.ts';

/** A tool of a server with inputs that somebody saved: title, description, inputs and the tool's schemas are sealed. */
export interface BlockRecord extends OwnedRecord {
  /** The server's id, not its name: one that is made anew under the same name is another server. */
  serverId: string;
  tool: string;
}

export type BlockStore = OwnedStore<BlockRecord>;

/**
 * Bound to its owner, its server and its tool: inputs moved into the row of another block, or whose row names another server, do
 * not open there.
 */
export function toBlockSealContext({
  tenant,
  owner,
  serverId,
  id,
  tool,
}: Pick<BlockRecord, 'tenant' | 'owner' | 'serverId' | 'id' | 'tool'>): SealContext {
  return {
    tenant,
    principal: `user:${owner}`,
    server: serverId,
    kind: 'block',
    field: 'block',
    binding: [id, tool],
  };
}
