import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { withTimeout, type Clock } from '@behalf/kernel';

export interface RunningHttpServer {
  readonly port: number;
  /** Takes no new connection, lets what is in flight finish for `graceMs`, then cuts it. */
  stop(graceMs: number): Promise<void>;
}

const CLOSE_IDLE_INTERVAL_MS = 50;

export async function openHttpServer(
  listener: RequestListener,
  { host, port, clock }: { host: string; port: number; clock: Clock },
): Promise<RunningHttpServer> {
  const server = createServer(
    // A client that dribbles its headers must not hold a connection for minutes.
    { requestTimeout: 60_000, headersTimeout: 15_000, keepAliveTimeout: 65_000 },
    listener,
  );
  server.listen(port, host.replace(/^\[|\]$/g, ''));
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop(graceMs) {
      let isClosing = true;
      const closed = once(server, 'close').then(() => {
        isClosing = false;
      });
      server.close();
      // A connection whose answer was under way stays open for a next request that we will not take.
      const closeIdle = () => {
        server.closeIdleConnections();
        if (isClosing) clock.timer(CLOSE_IDLE_INTERVAL_MS, closeIdle);
      };
      closeIdle();
      await withTimeout(clock, graceMs, closed, () => undefined);
      server.closeAllConnections();
      await closed;
    },
  };
}
