import type { RunState } from '@behalf/contracts';
import type { SealContext } from '@behalf/kernel';

/** What somebody saved, and others may be given: a block, a set. */
export interface OwnedRecord {
  id: string;
  tenant: string;
  /** The user who made it. */
  owner: string;
  /** Counts changes: who changes it says which one they saw. */
  version: number;
  /** What was saved, as JSON. It may hold anything. */
  sealed: string;
  createdAt: number;
  updatedAt: number;
  updatedBy: string;
}

/** Every method names the tenant. Who may do what with a record stands in the access list, not here. */
export interface OwnedStore<R extends OwnedRecord> {
  find(tenant: string, id: string): Promise<R | null>;
  /** Those of these ids that are there, in the order of their ids. */
  findMany(tenant: string, ids: readonly string[]): Promise<R[]>;
  /** Never more than `most` of one owner, however many are inserted at once. Throws when the id exists. */
  insert(record: R, maxPerOwner: number): Promise<'inserted' | 'full'>;
  /** Replaces the record of this id and tenant if it still has version `seen`, as one step for all processes. */
  replace(record: R, expectedVersion: number): Promise<'replaced' | 'version_conflict' | 'missing'>;
  /** False when there was none. */
  remove(tenant: string, id: string): Promise<boolean>;
}

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

/** Blocks in an order that somebody saved: title, description and steps are sealed. */
export type SetRecord = OwnedRecord;

export type SetStore = OwnedStore<SetRecord>;

/** Bound to its owner and its id: steps moved into another row do not open there. */
export function toSetSealContext({
  tenant,
  owner,
  id,
}: Pick<SetRecord, 'tenant' | 'owner' | 'id'>): SealContext {
  return { tenant, principal: `user:${owner}`, server: '-', kind: 'set', field: 'set', binding: [id] };
}

/** One run of a set, by the user who began it. */
export interface RunRecord {
  id: string;
  tenant: string;
  userId: string;
  setId: string;
  /** As it was last written. That a run is interrupted is nobody's to write: it is told from its lease. */
  state: Exclude<RunState, 'interrupted'>;
  /** Somebody wants it to end, and who is at it has not yet. */
  isCancelling: boolean;
  /** Names the work on it that is under way; empty when there is none. What has another name may not write. */
  worker: string;
  /** How many steps have succeeded, and of how many. */
  done: number;
  total: number;
  /** Counts writes: who writes says which one they saw. */
  version: number;
  /** What the set was called, as JSON. */
  titleSealed: string;
  /** The steps with what they were given and what came of them, as JSON. */
  sealed: string;
  createdAt: number;
  updatedAt: number;
  expiresAt: number;
}

/** Without what was given and what came of it. */
export type RunMetadata = Omit<RunRecord, 'sealed'>;

/** Every method names tenant and user: with the id of somebody else's run nobody reads or changes it. */
export interface RunStore {
  find(tenant: string, userId: string, id: string): Promise<RunRecord | null>;
  /** The same, for who only wants to know how it stands. */
  findMetadata(tenant: string, userId: string, id: string): Promise<RunMetadata | null>;
  /** Those of a set, the latest first, by `createdAt` and then by id, both descending. */
  list(tenant: string, userId: string, setId: string): Promise<RunMetadata[]>;
  /** This user's that are `running`, of whichever set, the latest first. */
  listRunning(tenant: string, userId: string): Promise<RunMetadata[]>;
  /** `full`, and nothing written, when this user has `most` in the state `running`. Throws when the id exists. */
  insert(run: RunRecord, maxRunning: number): Promise<'inserted' | 'full'>;
  /** Replaces the record of this id, tenant and user if it still has version `seen`, as one step for all processes. */
  replace(run: RunRecord, expectedVersion: number): Promise<'replaced' | 'version_conflict' | 'missing'>;
  /** Of this user's runs that are not `running` all but the latest `keep` go; how many. */
  prune(tenant: string, userId: string, keepCount: number): Promise<number>;
  /** Those whose time is over; how many. */
  removeExpired(now: number): Promise<number>;
}

type RunKey = Pick<RunRecord, 'tenant' | 'userId' | 'setId' | 'id'>;

/** Bound to who ran it, its set and its id: results moved into another row, or under another user, do not open there. */
export function toRunSealContext(run: RunKey): SealContext {
  return { ...toBaseSealContext(run), field: 'run' };
}

export function toRunTitleSealContext(run: RunKey): SealContext {
  return { ...toBaseSealContext(run), field: 'title' };
}

function toBaseSealContext({ tenant, userId, setId, id }: RunKey): Omit<SealContext, 'field'> {
  return { tenant, principal: `user:${userId}`, server: '-', kind: 'run', binding: [setId, id] };
}
