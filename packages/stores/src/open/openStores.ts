import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Random } from '@behalf/kernel';
import { mergeChangeFeeds } from './mergeChangeFeeds.ts';

export interface StoreTargets {
  dataDir: string;
  mongoUri?: string | undefined;
  redis?: { uri: string; prefix: string; username?: string; password?: string; ca?: string } | undefined;
}

interface Parts {
  clock: Clock;
  random: Random;
}

/** MongoDB where it is configured, else SQLite. A driver is loaded only when its store is used. */
export async function openPrimary({ dataDir, mongoUri }: StoreTargets, parts: Parts): Promise<PrimaryStore> {
  if (mongoUri !== undefined) {
    const { openMongoStore } = await import('../mongo/index.ts');
    return openMongoStore({ ...parts, uri: mongoUri, pendingWriteDir: join(dataDir, 'pending-writes') });
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const { openSqliteStore } = await import('../sqlite/index.ts');
  return openSqliteStore({ ...parts, file: join(dataDir, 'behalf.db') });
}

/** Redis where it is configured, else the primary store itself. */
export async function openCoordination(
  { redis }: StoreTargets,
  primary: PrimaryStore,
  parts: Parts,
): Promise<CoordinationStore> {
  if (redis === undefined) return primary;
  const { openRedisStore } = await import('../redis/index.ts');
  const store = await openRedisStore({ ...parts, ...redis });
  return { ...store, changes: mergeChangeFeeds(primary.changes, store.changes) };
}
