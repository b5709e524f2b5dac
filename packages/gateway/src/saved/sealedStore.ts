import { SealError, type Keyring, type SealContext } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { OwnedRecord, OwnedStore } from '../ports/index.ts';
import type { Log } from '../upstream/parts.ts';
import type { SavedKind } from './kinds.ts';

/** What is written is what can be read back; what was changed, or moved here from elsewhere, is not there. */
export interface SavedStore<T> {
  find(tenant: string, id: string): Promise<T | null>;
  /** In the order of their ids. */
  findMany(tenant: string, ids: readonly string[]): Promise<T[]>;
  /** The code of its kind when its owner has too many, REQUEST_TOO_LARGE when it is too large. */
  insert(resource: T): Promise<void>;
  /** VERSION_CONFLICT when it changed meanwhile, the code of its kind when it is gone. */
  replace(resource: T, expectedVersion: number): Promise<void>;
  remove(tenant: string, id: string): Promise<boolean>;
}

export interface SealedStoreParts<R extends OwnedRecord, K extends object> {
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

export function createSealedStore<R extends OwnedRecord, K extends object>(
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
