import { type ErrorCode, StoredBlock, StoredSet } from '@behalf/contracts';
import { type Keyring, type Random, type SealContext, SealError } from '@behalf/kernel';
import type { Acl, SavedKindName } from '../access/acl.ts';
import type { Roles } from '../access/roles.ts';
import type { Audit } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import {
  type BlockRecord,
  type BlockStore,
  type OwnedRecord,
  type OwnedStore,
  type SetRecord,
  type SetStore,
  type UserStore,
  toBlockSealContext,
  toSetSealContext,
} from '../ports/index.ts';
import type { LeaseParts } from '../replication/withLease.ts';
import type { Log } from '../upstream/upstream.ts';
import { MAX_SETS, MAX_SET_LENGTH } from './runs.ts';

/** What people save and share: what each is called, and in which words it is refused. The rest is the same for all. */
export interface SavedKind {
  readonly name: SavedKindName;
  readonly notFound: ErrorCode;
  readonly forbidden: ErrorCode;
  readonly full: ErrorCode;
}

export const blockKind: SavedKind = {
  name: 'block',
  notFound: 'BLOCK_NOT_FOUND',
  forbidden: 'BLOCK_FORBIDDEN',
  full: 'BLOCK_LIMIT',
};

export const setKind: SavedKind = {
  name: 'set',
  notFound: 'SET_NOT_FOUND',
  forbidden: 'SET_FORBIDDEN',
  full: 'SET_LIMIT',
};

/** Whatever is saved has these. */
export interface SavedResource {
  readonly id: string;
  readonly tenant: string;
  readonly owner: string;
  readonly version: number;
}

/** Those of one kind. */
export interface SavedCollection<T extends SavedResource> {
  readonly kind: SavedKind;
  readonly store: SavedStore<T>;
}

export interface ReadSavedParts {
  readonly acl: Pick<Acl, 'getSavedBits' | 'listSavedBits'>;
  readonly roles: Pick<Roles, 'requirePermission'>;
}

/** What saving and sharing needs. */
export interface WriteSavedParts extends LeaseParts {
  readonly acl: Acl;
  readonly roles: Pick<Roles, 'requirePermission' | 'refresh' | 'exists'>;
  readonly users: Pick<UserStore, 'findById'>;
  readonly audit: Audit;
  readonly random: Random;
}

/** What is written is what can be read back; what was changed, or moved here from elsewhere, is not there. */
interface SavedStore<T> {
  find(tenant: string, id: string): Promise<T | null>;
  /** In the order of their ids. */
  findMany(tenant: string, ids: readonly string[]): Promise<T[]>;
  /** The code of its kind when its owner has too many, REQUEST_TOO_LARGE when it is too large. */
  insert(resource: T): Promise<void>;
  /** VERSION_CONFLICT when it changed meanwhile, the code of its kind when it is gone. */
  replace(resource: T, expectedVersion: number): Promise<void>;
  remove(tenant: string, id: string): Promise<boolean>;
}

interface SealedStoreParts<R extends OwnedRecord, K extends object> {
  readonly kind: SavedKind;
  readonly store: OwnedStore<R>;
  readonly keyring: Keyring;
  readonly log: Log;
  /** The fields of the record that are not sealed. */
  readonly columns: readonly (keyof Omit<R, 'sealed'> & string)[];
  /** What is sealed, and nothing else. */
  readonly contentSchema: { parse(value: unknown): K };
  readonly toSealContext: (record: Omit<R, 'sealed'>) => SealContext;
  readonly limits: { readonly maxPerOwner: number; readonly maxLength: number };
}

function createSealedStore<R extends OwnedRecord, K extends object>(
  parts: SealedStoreParts<R, K>,
): SavedStore<Omit<R, 'sealed'> & K> {
  type T = Omit<R, 'sealed'> & K;
  const { kind, store, keyring, log, columns, contentSchema, toSealContext, limits } = parts;
  const isColumn = ([name]: [string, unknown]) => (columns as readonly string[]).includes(name);

  function seal(resource: T): R {
    const entries = Object.entries(resource);
    const content = contentSchema.parse(Object.fromEntries(entries.filter((entry) => !isColumn(entry))));
    const sealed = keyring.seal(JSON.stringify(content), toSealContext(resource));
    if (sealed.length > limits.maxLength) throw new GatewayError('REQUEST_TOO_LARGE');
    return { ...Object.fromEntries(entries.filter(isColumn)), sealed } as R;
  }

  /** Null, and a line in the log, for one that does not open or is not what we sealed. */
  function openRecord(record: R): T | null {
    const { sealed, ...rest } = record;
    try {
      return { ...rest, ...contentSchema.parse(JSON.parse(keyring.open(sealed, toSealContext(record)))) };
    } catch (error) {
      const reason = error instanceof SealError ? error.reason : 'unreadable';
      log(`${kind.name}_unreadable`, { [kind.name]: record.id, owner: record.owner, reason });
      return null;
    }
  }

  return {
    async find(tenant, id) {
      const record = await store.find(tenant, id);
      return record && openRecord(record);
    },
    findMany: async (tenant, ids) =>
      (await store.findMany(tenant, ids)).flatMap((record) => openRecord(record) ?? []),
    async insert(resource) {
      if ((await store.insert(seal(resource), limits.maxPerOwner)) === 'full')
        throw new GatewayError(kind.full);
    },
    async replace(resource, expectedVersion) {
      const outcome = await store.replace(seal(resource), expectedVersion);
      if (outcome === 'version_conflict') throw new GatewayError('VERSION_CONFLICT');
      if (outcome === 'missing') throw new GatewayError(kind.notFound);
    },
    remove: (tenant, id) => store.remove(tenant, id),
  };
}

/** A block as it was saved. */
export interface SavedBlock extends Omit<BlockRecord, 'sealed'>, StoredBlock {}

export type SavedBlocks = SavedStore<SavedBlock>;

interface SealedBlockParts {
  readonly store: BlockStore;
  readonly keyring: Keyring;
  readonly log: Log;
}

const blockColumns = [
  ...(['id', 'tenant', 'owner', 'serverId', 'tool', 'version'] as const),
  ...(['createdAt', 'updatedAt', 'updatedBy'] as const),
];

export function createSavedBlocks({ store, keyring, log }: SealedBlockParts): SavedBlocks {
  return createSealedStore({
    ...{
      kind: blockKind,
      store,
      keyring,
      log,
      columns: blockColumns,
      contentSchema: StoredBlock,
      toSealContext: toBlockSealContext,
    },
    limits: { maxPerOwner: MAX_BLOCKS, maxLength: MAX_BLOCK_LENGTH },
  });
}

export function getBlockCollection({
  blocks,
}: {
  readonly blocks: SavedBlocks;
}): SavedCollection<SavedBlock> {
  return { kind: blockKind, store: blocks };
}

/** A set as it was saved. */
export interface BlockSet extends Omit<SetRecord, 'sealed'>, StoredSet {}

export type BlockSets = SavedStore<BlockSet>;

const setColumns = [
  ...(['id', 'tenant', 'owner', 'version'] as const),
  ...(['createdAt', 'updatedAt', 'updatedBy'] as const),
];

export function createSets(parts: {
  readonly store: SetStore;
  readonly keyring: Keyring;
  readonly log: Log;
}): BlockSets {
  return createSealedStore({
    ...{
      ...parts,
      kind: setKind,
      columns: setColumns,
      contentSchema: StoredSet,
      toSealContext: toSetSealContext,
    },
    limits: { maxPerOwner: MAX_SETS, maxLength: MAX_SET_LENGTH },
  });
}

export function getSetCollection({ sets }: { readonly sets: BlockSets }): SavedCollection<BlockSet> {
  return { kind: setKind, store: sets };
}

/** Of one owner. */
const MAX_BLOCKS = 200;
/** Of one block, sealed: a third more than its JSON. A tool says at most 256 KiB of itself. */
const MAX_BLOCK_LENGTH = 512 * 1024;
/** Of structured content that is held to a schema. */
export const MAX_CHECKED_OUTPUT_LENGTH = 1024 * 1024;
