import {
  type AttemptCounter,
  type ChangeEvent,
  type ChangeFeed,
  type PendingWriteStore,
  changeTopics,
} from '@behalf/gateway/ports';
import type { LeasePurpose, Leases, Random } from '@behalf/kernel';
import type { RedisClientType } from 'redis';
import { createChangeListeners } from '../changeListeners.ts';
import { PENDING_WRITE_TTL_MS } from '../pendingWrites.ts';
import type { RedisConnection } from './connection.ts';

/** Changes only the value of the holder: a lease that another process has acquired stays with that process. */
const EXTEND_SCRIPT = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) else return 0 end`;
const RELEASE_SCRIPT = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end`;

export function createRedisLeases(
  redis: RedisConnection,
  { prefix, random }: { prefix: string; random: Random },
): Leases {
  const evalIfOwner = async (script: string, key: string, ...args: string[]) =>
    (await redis.run((client) => client.eval(script, { keys: [key], arguments: args }))) === 1;

  return {
    async acquire(key, purpose, ttlMs) {
      const owner = random.id();
      const name = `${prefix}:${key}`;
      const value = `${purpose}:${owner}`;
      const reply = await redis.run((client) =>
        client.set(name, value, { condition: 'NX', expiration: { type: 'PX', value: ttlMs } }),
      );
      if (reply === null) return null;
      return {
        key,
        owner,
        purpose,
        extend: (ms) => evalIfOwner(EXTEND_SCRIPT, name, value, String(ms)),
        release: () => evalIfOwner(RELEASE_SCRIPT, name, value),
      };
    },
    async findHolder(key) {
      const value = await redis.run((client) => client.get(`${prefix}:${key}`));
      if (value === null) return null;
      const colon = value.indexOf(':');
      return { purpose: value.slice(0, colon) as LeasePurpose, owner: value.slice(colon + 1) };
    },
  };
}

export function createRedisChanges(
  redis: RedisConnection,
  channel: string,
): ChangeFeed & { waitUntilReady(): Promise<void>; stop(): void } {
  const listeners = createChangeListeners();
  const subscriber = redis.client.duplicate() as RedisClientType;
  let connectionCount = 0;
  subscriber.on('error', () => undefined);
  subscriber.on('ready', () => {
    connectionCount += 1;
    // Pub/sub does not store messages: after a reconnect, any topic may have changed.
    if (connectionCount > 1) for (const topic of changeTopics) listeners.emit({ topic, id: '*' });
  });
  const subscription = subscriber
    .connect()
    .then(() =>
      subscriber.subscribe(channel, (message) => {
        const change = parseChange(message);
        if (change) listeners.emit(change);
      }),
    )
    .catch(() => undefined);

  return {
    async publish(change) {
      // This process receives its own change immediately, even if the server is unreachable.
      listeners.emit(change);
      await redis.run((client) => client.publish(channel, JSON.stringify(change)));
    },
    subscribe: (listener) => listeners.subscribe(listener),
    // Pub/sub may lose messages, so this feed never guarantees completeness.
    syncedUntil: () => 0,
    waitUntilReady: () => subscription,
    stop() {
      // No pending command is worth waiting for.
      if (subscriber.isOpen) subscriber.destroy();
    },
  };
}

/** Other programs may share the server: ignore messages that are not ours. */
function parseChange(message: string): ChangeEvent | null {
  try {
    const { topic, id } = JSON.parse(message) as Partial<ChangeEvent>;
    const knownTopic = changeTopics.find((name) => name === topic);
    return knownTopic && typeof id === 'string' ? { topic: knownTopic, id } : null;
  } catch {
    return null;
  }
}

/** The clock of the server sets the end of the window, so replicas with different clocks agree. */
const HIT_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local count = redis.call('HINCRBY', KEYS[1], 'count', 1)
if count == 1 then
  redis.call('HSET', KEYS[1], 'resetAt', now + ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return { count, tonumber(redis.call('HGET', KEYS[1], 'resetAt')) }`;

export function createRedisAttempts(redis: RedisConnection, prefix: string): AttemptCounter {
  return {
    async hit(key, windowMs) {
      const reply = await redis.run((client) =>
        client.eval(HIT_SCRIPT, { keys: [`${prefix}:${key}`], arguments: [String(windowMs)] }),
      );
      const [count, resetAt] = reply as unknown as [number, number];
      return { count, resetAt };
    },
    clear: async (key) => void (await redis.run((client) => client.del(`${prefix}:${key}`))),
  };
}

/** Removes only the value that was read: another process may have stored a later one. */
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
