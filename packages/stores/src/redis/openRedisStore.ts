import type { CoordinationStore } from '@behalf/gateway/ports';
import { type Clock, type Random, withTimeout } from '@behalf/kernel';
import KeyvRedis from '@keyv/redis';
import { openKeyvCache } from '../keyvCache.ts';
import { connectRedis } from './connection.ts';
import {
  createRedisAttempts,
  createRedisChanges,
  createRedisLeases,
  createRedisPendingWrites,
} from './coordination.ts';

export interface RedisParts {
  uri: string;
  /** Prefix of every key and channel, so that several deployments can share a server. */
  prefix: string;
  clock: Clock;
  random: Random;
  /** PEM of the certificate authority of the server, for `rediss:`. */
  ca?: string;
  username?: string;
  password?: string;
}

/** How long opening waits for an unreachable server. Afterwards `/ready` reports it. */
const CONNECT_TIMEOUT_MS = 2_000;

/** Coordination and caches for many replicas. Losing its data costs work, never a record. */
export async function openRedisStore({
  prefix,
  clock,
  random,
  ...target
}: RedisParts): Promise<CoordinationStore> {
  const connection = connectRedis({ ...target, clock });
  const changes = createRedisChanges(connection, `${prefix}:changes`);
  await withTimeout(
    clock,
    CONNECT_TIMEOUT_MS,
    Promise.all([connection.waitUntilReady(), changes.waitUntilReady()]),
    () => undefined,
  );

  return {
    kind: 'redis',
    leases: createRedisLeases(connection, { prefix: `${prefix}:lease`, random }),
    attempts: createRedisAttempts(connection, `${prefix}:attempts`),
    changes,
    pendingWrites: createRedisPendingWrites(connection, `${prefix}:pending-write`),
    cache: openKeyvCache(
      'redis',
      () =>
        new KeyvRedis(connection.client, {
          throwOnErrors: true,
          throwOnConnectError: true,
        }),
      {
        namespaceFor: (namespace) => `${prefix}:cache:${namespace}`,
        // Keyv has no deadline of its own.
        run: (work) => connection.run(work),
      },
    ),
    ping: async () => void (await connection.run((client) => client.ping())),
    async close() {
      changes.stop();
      await connection.close();
    },
  };
}
