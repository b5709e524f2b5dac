import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ChangeFeed, CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Random } from '@behalf/kernel';

export interface StoreTargets {
  dataDir: string;
  mongoUri?: string | undefined;
  redis?: { uri: string; prefix: string; username?: string; password?: string; ca?: string } | undefined;
}

interface Parts {
  clock: Clock;
  random: Random;
}

/** Opens MongoDB if configured, otherwise SQLite. Loads only the driver that is used. */
export async function openPrimary({ dataDir, mongoUri }: StoreTargets, parts: Parts): Promise<PrimaryStore> {
  if (mongoUri !== undefined) {
    const { openMongoStore } = await import('../mongo/openMongoStore.ts');
    return openMongoStore({ ...parts, uri: mongoUri, pendingWriteDir: join(dataDir, 'pending-writes') });
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const { openSqliteStore } = await import('../sqlite/openSqliteStore.ts');
  return openSqliteStore({ ...parts, file: join(dataDir, 'behalf.db') });
}

/** Redis if configured, otherwise the primary store. */
export async function openCoordination(
  { redis }: StoreTargets,
  primary: PrimaryStore,
  parts: Parts,
): Promise<CoordinationStore> {
  if (redis === undefined) return primary;
  const { openRedisStore } = await import('../redis/openRedisStore.ts');
  const store = await openRedisStore({ ...parts, ...redis });
  return { ...store, changes: mergeChangeFeeds(primary.changes, store.changes) };
}

/**
 * Combines two feeds. The feed of the primary store loses nothing and is up to one second late. The Redis feed
 * is immediate and may lose changes. A change counts as published when the primary store has it, so the next
 * poll delivers what Redis loses.
 */
export function mergeChangeFeeds(durable: ChangeFeed, fast: ChangeFeed): ChangeFeed {
  return {
    async publish(change) {
      await durable.publish(change);
      await fast.publish(change).catch(() => undefined);
    },
    subscribe(listener) {
      const unsubscribers = [durable.subscribe(listener), fast.subscribe(listener)];
      return () => unsubscribers.forEach((stop) => stop());
    },
    syncedUntil: () => durable.syncedUntil(),
  };
}

export { StoreUnavailableError } from '../errors.ts';
export { loadKeys, type KeySource } from './loadKeys.ts';
export { StorageFormatError } from '../storageFormat.ts';
