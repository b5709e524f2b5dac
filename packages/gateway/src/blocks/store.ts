import { type ErrorCode, StoredBlock, StoredRun, StoredSet } from '@behalf/contracts';
import { type Keyring, type SealContext, SealError } from '@behalf/kernel';
import type { SavedKindName } from '../access/acl.ts';
import type { AuditDetails } from '../audit/withAudit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import {
  type BlockRecord,
  type BlockStore,
  type OwnedRecord,
  type OwnedStore,
  type RunMetadata,
  type RunRecord,
  type RunStore,
  type SetRecord,
  type SetStore,
  toBlockSealContext,
  toRunSealContext,
  toRunTitleSealContext,
  toSetSealContext,
} from '../ports/index.ts';
import type { Log } from '../upstream/upstream.ts';

/**
 * The stores of blocks, sets and runs. Content is sealed with its owner and position as context. A record that was changed or
 * moved in the database does not open; it is logged and treated as missing.
 */

export type SavedResource = Omit<OwnedRecord, 'sealed'>;
export type SavedBlock = Omit<BlockRecord, 'sealed'> & StoredBlock;
export type BlockSet = Omit<SetRecord, 'sealed'> & StoredSet;
/** A run with its steps. */
export type SetRun = Omit<RunRecord, 'sealed' | 'titleSealed'> & StoredRun;
export type RunOverview = Omit<SetRun, 'steps' | 'request'>;

/** How blocks and sets differ. */
export interface SavedKind<T> {
  readonly name: SavedKindName;
  readonly notFound: ErrorCode;
  readonly forbidden: ErrorCode;
  readonly full: ErrorCode;
  /** The fields that a change can change. */
  readonly contentFields: readonly (keyof T & string)[];
  readonly toAuditDetails: (resource: T) => AuditDetails;
}

export interface SavedStore<T> {
  readonly kind: SavedKind<T>;
  find(tenant: string, id: string): Promise<T | null>;
  /** Ordered by id. */
  findMany(tenant: string, ids: readonly string[]): Promise<T[]>;
  /** Throws the `full` code of the kind if the owner has too many, REQUEST_TOO_LARGE if the content is too large. */
  insert(resource: T): Promise<void>;
  /** VERSION_CONFLICT if another change was written since, the `notFound` code of the kind if it was removed. */
  replace(resource: T, expectedVersion: number): Promise<void>;
  remove(tenant: string, id: string): Promise<boolean>;
}

interface StoreParts<S> {
  readonly store: S;
  readonly keyring: Keyring;
  readonly log: Log;
}

/** A third more than the JSON text. A tool definition has at most 256 KiB. */
const MAX_SEALED_LENGTH = 512 * 1024;

function createSealedStore<R extends OwnedRecord, C extends object>(
  { store, keyring, log }: StoreParts<OwnedStore<R>>,
  kind: SavedKind<Omit<R, 'sealed'> & C>,
  options: {
    readonly maxPerOwner: number;
    /** The record fields of this kind in clear. All other fields are content. */
    readonly columns: readonly string[];
    /** The sealed content. A strict schema: a field that is neither content nor a column is rejected. */
    readonly contentSchema: { parse(value: unknown): C };
    readonly toSealContext: (record: Omit<R, 'sealed'>) => SealContext;
  },
): SavedStore<Omit<R, 'sealed'> & C> {
  type T = Omit<R, 'sealed'> & C;
  const { maxPerOwner, contentSchema, toSealContext } = options;
  const columns = [
    'id',
    'tenant',
    'owner',
    'version',
    'createdAt',
    'updatedAt',
    'updatedBy',
    ...options.columns,
  ];
  const isColumn = ([name]: [string, unknown]) => columns.includes(name);

  function seal(resource: T): R {
    const entries = Object.entries(resource);
    const content = contentSchema.parse(Object.fromEntries(entries.filter((entry) => !isColumn(entry))));
    const sealed = keyring.seal(JSON.stringify(content), toSealContext(resource));
    if (sealed.length > MAX_SEALED_LENGTH) throw new GatewayError('REQUEST_TOO_LARGE');
    return { ...Object.fromEntries(entries.filter(isColumn)), sealed } as R;
  }

  function open(record: R): T | null {
    const { sealed, ...rest } = record;
    return openOrLog(
      { log, event: `${kind.name}_unreadable`, fields: { [kind.name]: record.id, owner: record.owner } },
      () => ({
        ...rest,
        ...contentSchema.parse(JSON.parse(keyring.open(sealed, toSealContext(record)))),
      }),
    );
  }

  return {
    kind,
    async find(tenant, id) {
      const record = await store.find(tenant, id);
      return record && open(record);
    },
    findMany: async (tenant, ids) =>
      (await store.findMany(tenant, ids)).flatMap((record) => open(record) ?? []),
    async insert(resource) {
      if ((await store.insert(seal(resource), maxPerOwner)) === 'full') throw new GatewayError(kind.full);
    },
    async replace(resource, expectedVersion) {
      const outcome = await store.replace(seal(resource), expectedVersion);
      if (outcome === 'version_conflict') throw new GatewayError('VERSION_CONFLICT');
      if (outcome === 'missing') throw new GatewayError(kind.notFound);
    },
    remove: (tenant, id) => store.remove(tenant, id),
  };
}

/** Null if the value does not open or does not have the expected content. */
function openOrLog<T>(
  {
    log,
    event,
    fields,
  }: { readonly log: Log; readonly event: string; readonly fields: Record<string, string> },
  open: () => T,
): T | null {
  try {
    return open();
  } catch (error) {
    log(event, { ...fields, reason: error instanceof SealError ? error.reason : 'unreadable' });
    return null;
  }
}

export function createSavedBlocks(parts: StoreParts<BlockStore>): SavedStore<SavedBlock> {
  const kind: SavedKind<SavedBlock> = {
    name: 'block',
    ...{ notFound: 'BLOCK_NOT_FOUND', forbidden: 'BLOCK_FORBIDDEN', full: 'BLOCK_LIMIT' },
    contentFields: ['title', 'description', 'inputs', 'inputSchema', 'outputSchema'],
    toAuditDetails: ({ serverName, serverId }) => ({ server: serverName, serverId }),
  };
  return createSealedStore(parts, kind, {
    ...{ maxPerOwner: 200, columns: ['serverId', 'tool'] },
    ...{ contentSchema: StoredBlock, toSealContext: toBlockSealContext },
  });
}

export function createSavedSets(parts: StoreParts<SetStore>): SavedStore<BlockSet> {
  const kind: SavedKind<BlockSet> = {
    name: 'set',
    ...{ notFound: 'SET_NOT_FOUND', forbidden: 'SET_FORBIDDEN', full: 'SET_LIMIT' },
    contentFields: ['title', 'description', 'steps'],
    toAuditDetails: () => ({}),
  };
  return createSealedStore(parts, kind, {
    ...{ maxPerOwner: 100, columns: [] },
    ...{ contentSchema: StoredSet, toSealContext: toSetSealContext },
  });
}

/** The runs in progress of one user. */
export const MAX_ACTIVE_RUNS = 20;
/** The stored runs of one user that are not in progress. */
const MAX_STORED_RUNS = 100;

/** The runs of sets. Each opens for its user only. */
export interface SealedRuns {
  find(tenant: string, userId: string, id: string): Promise<SetRun | null>;
  /** Does not open the run. */
  findMetadata(tenant: string, userId: string, id: string): Promise<RunMetadata | null>;
  /** Latest first. */
  list(tenant: string, userId: string, setId: string): Promise<RunOverview[]>;
  /** The user's runs in the stored state `running`. Does not open them. */
  listRunning(tenant: string, userId: string): Promise<RunMetadata[]>;
  /** RUN_LIMIT if the user has too many runs in progress. Removes the oldest of the others. */
  insert(run: SetRun): Promise<void>;
  /** Returns the run with its new version; null if another write came first or the run was removed. */
  replace(run: SetRun): Promise<SetRun | null>;
  sweep(now: number): Promise<number>;
}

export function createSealedRuns({ store, keyring, log }: StoreParts<RunStore>): SealedRuns {
  function seal(run: SetRun): RunRecord {
    const { title, steps, request, ...record } = run;
    const content = StoredRun.parse({ title, steps, request });
    return {
      ...record,
      titleSealed: keyring.seal(JSON.stringify(title), toRunTitleSealContext(run)),
      sealed: keyring.seal(JSON.stringify(content), toRunSealContext(run)),
    };
  }

  const open = <T>({ id, userId }: RunMetadata, work: () => T) =>
    openOrLog({ log, event: 'run_unreadable', fields: { run: id, user: userId } }, work);

  return {
    async find(tenant, userId, id) {
      const stored = await store.find(tenant, userId, id);
      if (!stored) return null;
      const { sealed, titleSealed: _title, ...record } = stored;
      return open(stored, () => ({
        ...record,
        ...StoredRun.parse(JSON.parse(keyring.open(sealed, toRunSealContext(stored)))),
      }));
    },
    findMetadata: (tenant, userId, id) => store.findMetadata(tenant, userId, id),
    async list(tenant, userId, setId) {
      return (await store.list(tenant, userId, setId)).flatMap((metadata) => {
        const { titleSealed, ...record } = metadata;
        const openTitle = () =>
          JSON.parse(keyring.open(titleSealed, toRunTitleSealContext(metadata))) as string;
        const title = open(metadata, openTitle);
        return title === null ? [] : [{ ...record, title }];
      });
    },
    listRunning: (tenant, userId) => store.listRunning(tenant, userId),
    async insert(run) {
      if ((await store.insert(seal(run), MAX_ACTIVE_RUNS)) === 'full') throw new GatewayError('RUN_LIMIT');
      await store.prune(run.tenant, run.userId, MAX_STORED_RUNS);
    },
    async replace(run) {
      const next = { ...run, version: run.version + 1 };
      return (await store.replace(seal(next), run.version)) === 'replaced' ? next : null;
    },
    sweep: (now) => store.removeExpired(now),
  };
}
