import type { RunState } from '@behalf/contracts';
import type { SealContext } from '@behalf/kernel';

/** A resource that a user saved and can share: a block or a set. */
export interface OwnedRecord {
  id: string;
  tenant: string;
  /** The user who created it. */
  owner: string;
  /** Incremented by each change. A change names the version it is based on. */
  version: number;
  /** The content as encrypted JSON. */
  sealed: string;
  createdAt: number;
  updatedAt: number;
  updatedBy: string;
}

/** Each method takes the tenant. Permissions are checked with the access list, not here. */
export interface OwnedStore<R extends OwnedRecord> {
  find(tenant: string, id: string): Promise<R | null>;
  /** The existing records with these IDs, ordered by ID. */
  findMany(tenant: string, ids: readonly string[]): Promise<R[]>;
  /** Atomic across replicas: never more than `maxPerOwner` of one owner. Throws if the ID exists. */
  insert(record: R, maxPerOwner: number): Promise<'inserted' | 'full'>;
  /** Compare-and-set: replaces the record with this ID and tenant if it still has `expectedVersion`. */
  replace(record: R, expectedVersion: number): Promise<'replaced' | 'version_conflict' | 'missing'>;
  /** False if it did not exist. */
  remove(tenant: string, id: string): Promise<boolean>;
}

/**
 * A saved tool call: a tool of a server with inputs. Title, description, inputs and the tool's schemas are
 * encrypted.
 */
export interface BlockRecord extends OwnedRecord {
  /** The ID of the server, not its name: a server that is created again under the same name is another server. */
  serverId: string;
  tool: string;
}

export type BlockStore = OwnedStore<BlockRecord>;

/**
 * Binds the content to owner, server and tool: inputs copied to the row of another block, or to a row that names
 * another server, fail to decrypt.
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

/** An ordered list of blocks. Title, description and steps are encrypted. */
export type SetRecord = OwnedRecord;

export type SetStore = OwnedStore<SetRecord>;

/** Binds the content to owner and ID: steps copied to another row fail to decrypt. */
export function toSetSealContext({
  tenant,
  owner,
  id,
}: Pick<SetRecord, 'tenant' | 'owner' | 'id'>): SealContext {
  return { tenant, principal: `user:${owner}`, server: '-', kind: 'set', field: 'set', binding: [id] };
}

/** One run of a set, by the user who started it. */
export interface RunRecord {
  id: string;
  tenant: string;
  userId: string;
  setId: string;
  /** The last written state. `interrupted` is never written: it is derived from the missing lease. */
  state: Exclude<RunState, 'interrupted'>;
  /** A cancellation was requested, and the worker has not stopped yet. */
  isCancelling: boolean;
  /** Identifies the worker in progress; empty without one. Another worker must not write. */
  worker: string;
  /** The number of succeeded steps; `total` is the number of all steps. */
  done: number;
  total: number;
  /** Incremented by each write. A write names the version it is based on. */
  version: number;
  /** The title of the set at that time, as encrypted JSON. */
  titleSealed: string;
  /** The steps with their inputs and results, as encrypted JSON. */
  sealed: string;
  createdAt: number;
  updatedAt: number;
  expiresAt: number;
}

/** A run without inputs and results. */
export type RunMetadata = Omit<RunRecord, 'sealed'>;

/** Each method takes tenant and user, so that the ID of another user's run is not enough to read or change it. */
export interface RunStore {
  find(tenant: string, userId: string, id: string): Promise<RunRecord | null>;
  findMetadata(tenant: string, userId: string, id: string): Promise<RunMetadata | null>;
  /** The runs of a set, the latest first, by `createdAt` and then by ID, both descending. */
  list(tenant: string, userId: string, setId: string): Promise<RunMetadata[]>;
  /** The user's runs of any set in the state `running`, the latest first. */
  listRunning(tenant: string, userId: string): Promise<RunMetadata[]>;
  /** `full`, without a write, if the user has `maxRunning` runs in the state `running`. Throws if the ID exists. */
  insert(run: RunRecord, maxRunning: number): Promise<'inserted' | 'full'>;
  /** Compare-and-set: replaces the record with this ID, tenant and user if it still has `expectedVersion`. */
  replace(run: RunRecord, expectedVersion: number): Promise<'replaced' | 'version_conflict' | 'missing'>;
  /** Removes the user's runs that are not `running`, except the latest `keepCount`. Returns their number. */
  prune(tenant: string, userId: string, keepCount: number): Promise<number>;
  /** Removes expired runs. Returns their number. */
  removeExpired(now: number): Promise<number>;
}

type RunKey = Pick<RunRecord, 'tenant' | 'userId' | 'setId' | 'id'>;

/** Binds the content to user, set and ID: results copied to another row or user fail to decrypt. */
export function toRunSealContext(run: RunKey): SealContext {
  return { ...toBaseSealContext(run), field: 'run' };
}

export function toRunTitleSealContext(run: RunKey): SealContext {
  return { ...toBaseSealContext(run), field: 'title' };
}

function toBaseSealContext({ tenant, userId, setId, id }: RunKey): Omit<SealContext, 'field'> {
  return { tenant, principal: `user:${userId}`, server: '-', kind: 'run', binding: [setId, id] };
}
