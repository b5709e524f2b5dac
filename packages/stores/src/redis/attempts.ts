import type { AttemptCounter } from '@behalf/gateway/ports';
import type { RedisConnection } from './connection.ts';

/** The server's own clock sets the window's end, so replicas with different clocks agree on it. */
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
