import type { LeasePurpose, Leases, Random } from '@behalf/kernel';
import type { RedisConnection } from './connection.ts';

/** Only the holder's own value is touched: a lease that changed hands meanwhile stays with its new holder. */
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
