import { withTimeout, type Clock } from '@behalf/kernel';
import { createClient, type RedisClientType } from 'redis';
import { StoreUnavailableError } from '../errors.ts';

export interface RedisConnection {
  readonly client: RedisClientType;
  /**
   * Runs a command with a deadline. If the server is unreachable, rejects with StoreUnavailableError
   * immediately.
   */
  run<T>(command: (client: RedisClientType) => Promise<T>): Promise<T>;
  /** Resolves at the first connection. */
  waitUntilReady(): Promise<void>;
  close(): Promise<void>;
}

const COMMAND_TIMEOUT_MS = 2_000;
/** How long closing waits for commands in flight. After that they fail. */
const CLOSE_TIMEOUT_MS = 500;
const MAX_RECONNECT_DELAY_MS = 1_000;

interface RedisTarget {
  uri: string;
  clock: Clock;
  ca?: string;
  username?: string;
  password?: string;
}

export function connectRedis({ clock, ...target }: RedisTarget): RedisConnection {
  const client = createClient({
    url: target.uri,
    ...(target.username !== undefined && { username: target.username }),
    ...(target.password !== undefined && { password: target.password }),
    // With an offline queue, an outage would end with a burst of stale commands.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: COMMAND_TIMEOUT_MS,
      reconnectStrategy: (attempts) => Math.min(MAX_RECONNECT_DELAY_MS, 25 * 2 ** Math.min(attempts, 6)),
      ...(target.ca !== undefined && { tls: true as const, ca: target.ca }),
    },
  }) as RedisClientType;
  // Without a listener an outage would end the process. `run` and `/ready` report it.
  client.on('error', () => undefined);
  const firstReady = new Promise<void>((resolve) => client.once('ready', () => resolve()));
  client.connect().catch(() => undefined);
  const inFlight = new Set<Promise<unknown>>();
  let closed = false;

  return {
    client,
    async run(command) {
      if (closed || !client.isReady) throw new StoreUnavailableError('redis');
      // The timeout of the client covers the time until a command is written, not until it is answered.
      const response = withTimeout(clock, COMMAND_TIMEOUT_MS, command(client), () => {
        throw new Error(`No response within ${COMMAND_TIMEOUT_MS} ms`);
      });
      inFlight.add(response);
      try {
        return await response;
      } catch (cause) {
        throw new StoreUnavailableError('redis', cause);
      } finally {
        inFlight.delete(response);
      }
    },
    waitUntilReady: () => firstReady,
    async close() {
      if (closed) return;
      closed = true;
      // Not `client.close()`: it waits for answers without a limit, and then the client cannot be destroyed.
      await withTimeout(clock, CLOSE_TIMEOUT_MS, Promise.allSettled(inFlight), () => undefined);
      if (client.isOpen) client.destroy();
    },
  };
}
