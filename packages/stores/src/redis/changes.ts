import { changeTopics, type ChangeFeed, type ChangeEvent } from '@behalf/gateway/ports';
import type { RedisClientType } from 'redis';
import { createChangeListeners } from '../changeListeners.ts';
import type { RedisConnection } from './connection.ts';

export function createRedisChanges(
  redis: RedisConnection,
  channel: string,
): ChangeFeed & { ready(): Promise<void>; stop(): void } {
  const listeners = createChangeListeners();
  const subscriber = redis.client.duplicate() as RedisClientType;
  let connections = 0;
  subscriber.on('error', () => undefined);
  subscriber.on('ready', () => {
    connections += 1;
    // Pub/sub keeps nothing for who is away: after a gap anything may have changed.
    if (connections > 1) for (const topic of changeTopics) listeners.emit({ topic, id: '*' });
  });
  const subscribed = subscriber
    .connect()
    .then(() =>
      subscriber.subscribe(channel, (message) => {
        const notice = parse(message);
        if (notice) listeners.emit(notice);
      }),
    )
    .catch(() => undefined);

  return {
    async publish(notice) {
      // This process hears at once, even when the server is away.
      listeners.emit(notice);
      await redis.ask((client) => client.publish(channel, JSON.stringify(notice)));
    },
    subscribe: (listener) => listeners.subscribe(listener),
    // Pub/sub forgets: it never knows that it has heard everything.
    syncedUntil: () => 0,
    ready: () => subscribed,
    stop() {
      // Nothing it was asked is worth waiting for.
      if (subscriber.isOpen) subscriber.destroy();
    },
  };
}

/** Others share the server: what is not a notice of ours is no news. */
function parse(message: string): ChangeEvent | null {
  try {
    const { topic, id } = JSON.parse(message) as Partial<ChangeEvent>;
    const known = changeTopics.find((name) => name === topic);
    return known && typeof id === 'string' ? { topic: known, id } : null;
  } catch {
    return null;
  }
}
