import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** One address before several replicas. */
export interface RoundRobin {
  readonly url: string;
  /** Where each request landed, in the order in which they were answered. */
  readonly targets: readonly string[];
  /** From now on these take turns. */
  balance(urls: readonly string[]): void;
  close(): void;
}

/** Every request goes to the next replica, on a connection of its own; one that does not listen is passed over. */
export async function startRoundRobin(): Promise<RoundRobin> {
  const targets: string[] = [];
  let replicas: readonly string[] = [];
  let index = 0;

  function forward(incoming: IncomingMessage, body: Buffer, url: string): Promise<IncomingMessage> {
    const { method, headers } = incoming;
    const upstreamRequest = request(new URL(incoming.url ?? '/', url), { method, headers, agent: false });
    upstreamRequest.end(body);
    return new Promise(
      (resolve, reject) => void upstreamRequest.once('response', resolve).once('error', reject),
    );
  }

  const server = createServer((req, res) => {
    (async () => {
      const body = await buffer(req);
      for (let attempt = 0; attempt < replicas.length; attempt += 1) {
        const url = replicas[index++ % replicas.length] ?? '';
        const response = await forward(req, body, url).catch(() => null);
        if (!response) continue;
        targets.push(url);
        res.writeHead(response.statusCode ?? 502, response.rawHeaders).flushHeaders();
        response.pipe(res);
        // A replica that dies takes its streams with it, and a client that leaves takes its own.
        response.once('error', () => res.destroy());
        res.once('close', () => response.destroy());
        return;
      }
      res.writeHead(502).end('None of the replicas listens');
    })().catch(() => res.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets,
    balance: (urls) => void (replicas = urls),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
