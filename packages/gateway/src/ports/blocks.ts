import type { SealContext } from '@behalf/kernel';

/** A tool of a server with inputs that somebody saved. */
export interface BlockRecord {
  id: string;
  tenant: string;
  /** The user who made it. */
  owner: string;
  /** The server's id, not its name: one that is made anew under the same name is another server. */
  serverId: string;
  tool: string;
  /** Counts changes: who changes it says which one they saw. */
  version: number;
  /** Title, description, inputs and the tool's schemas as JSON. Inputs may hold anything. */
  sealed: string;
  createdAt: number;
  updatedAt: number;
  updatedBy: string;
}

/** Every method names the tenant. Who may do what with a block stands in the access list, not here. */
export interface BlockStore {
  find(tenant: string, id: string): Promise<BlockRecord | null>;
  /** Those of these ids that are there, in the order of their ids. */
  findMany(tenant: string, ids: readonly string[]): Promise<BlockRecord[]>;
  /** Never more than `most` of one owner, however many are inserted at once. Throws when the id exists. */
  insert(block: BlockRecord, most: number): Promise<'inserted' | 'full'>;
  /** Replaces the record of this id and tenant if it still has version `seen`, as one step for all processes. */
  replace(block: BlockRecord, seen: number): Promise<'replaced' | 'version_conflict' | 'missing'>;
  /** False when there was none. */
  remove(tenant: string, id: string): Promise<boolean>;
}

/**
 * Bound to its owner, its server and its tool: inputs moved into the row of another block, or whose row names another server, do
 * not open there.
 */
export function blockContext({
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
