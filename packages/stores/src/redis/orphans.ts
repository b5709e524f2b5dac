import type { PendingWriteStore } from '@behalf/gateway/ports';
import { ORPHAN_MS } from '../orphanAge.ts';
import type { RedisConnection } from './connection.ts';

/** Only what was seen: another process may have put a later one there. */
const REMOVE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end`;

export function createRedisOrphans(redis: RedisConnection, prefix: string): PendingWriteStore {
  const keyOf = (id: string) => `${prefix}:${id}`;
  return {
    put: async (id, sealed) =>
      void (await redis.ask((client) =>
        client.set(keyOf(id), sealed, { expiration: { type: 'PX', value: ORPHAN_MS } }),
      )),
    find: (id) => redis.ask((client) => client.get(keyOf(id))),
    remove: async (id, sealed) =>
      void (await redis.ask((client) => client.eval(REMOVE, { keys: [keyOf(id)], arguments: [sealed] }))),
  };
}
