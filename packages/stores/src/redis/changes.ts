import { changeTopics, type ChangeFeed, type ChangeEvent } from '@behalf/gateway/ports';
import type { RedisClientType } from 'redis';
import { createChangeListeners } from '../changeListeners.ts';
import type { RedisConnection } from './connection.ts';

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
    // Pub/sub keeps nothing for who is away: after a gap anything may have changed.
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
      // This process hears at once, even when the server is away.
      listeners.emit(change);
      await redis.run((client) => client.publish(channel, JSON.stringify(change)));
    },
    subscribe: (listener) => listeners.subscribe(listener),
    // Pub/sub forgets: it never knows that it has heard everything.
    syncedUntil: () => 0,
    waitUntilReady: () => subscription,
    stop() {
      // Nothing it was asked is worth waiting for.
      if (subscriber.isOpen) subscriber.destroy();
    },
  };
}

/** Others share the server: what is not a notice of ours is no news. */
function parseChange(message: string): ChangeEvent | null {
  try {
    const { topic, id } = JSON.parse(message) as Partial<ChangeEvent>;
    const knownTopic = changeTopics.find((name) => name === topic);
    return knownTopic && typeof id === 'string' ? { topic: knownTopic, id } : null;
  } catch {
    return null;
  }
}
