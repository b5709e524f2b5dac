import type { PendingWriteStore } from '@behalf/gateway/ports';
import { PENDING_WRITE_TTL_MS } from '../pendingWriteTtl.ts';
import type { RedisConnection } from './connection.ts';

/** Only what was seen: another process may have put a later one there. */
const REMOVE_SCRIPT = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end`;

export function createRedisPendingWrites(redis: RedisConnection, prefix: string): PendingWriteStore {
  const keyOf = (id: string) => `${prefix}:${id}`;
  return {
    put: async (id, sealed) =>
      void (await redis.run((client) =>
        client.set(keyOf(id), sealed, { expiration: { type: 'PX', value: PENDING_WRITE_TTL_MS } }),
      )),
    find: (id) => redis.run((client) => client.get(keyOf(id))),
    remove: async (id, sealed) =>
      void (await redis.run((client) =>
        client.eval(REMOVE_SCRIPT, { keys: [keyOf(id)], arguments: [sealed] }),
      )),
  };
}
