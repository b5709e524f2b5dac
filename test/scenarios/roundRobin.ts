import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** One address before several replicas. */
export interface RoundRobin {
  readonly url: string;
  /** Where each request landed, in the order in which they were answered. */
  readonly landed: readonly string[];
  /** From now on these take turns. */
  balance(urls: readonly string[]): void;
  close(): void;
}

/** Every request goes to the next replica, on a connection of its own; one that does not listen is passed over. */
export async function startRoundRobin(): Promise<RoundRobin> {
  const landed: string[] = [];
  let replicas: readonly string[] = [];
  let turn = 0;

  function forward(from: IncomingMessage, body: Buffer, url: string): Promise<IncomingMessage> {
    const { method, headers } = from;
    const onward = request(new URL(from.url ?? '/', url), { method, headers, agent: false });
    onward.end(body);
    return new Promise((answered, failed) => void onward.once('response', answered).once('error', failed));
  }

  const server = createServer((req, res) => {
    (async () => {
      const body = await buffer(req);
      for (let tried = 0; tried < replicas.length; tried += 1) {
        const url = replicas[turn++ % replicas.length] ?? '';
        const answer = await forward(req, body, url).catch(() => null);
        if (!answer) continue;
        landed.push(url);
        res.writeHead(answer.statusCode ?? 502, answer.rawHeaders).flushHeaders();
        answer.pipe(res);
        // A replica that dies takes its streams with it, and a client that leaves takes its own.
        answer.once('error', () => res.destroy());
        res.once('close', () => answer.destroy());
        return;
      }
      res.writeHead(502).end('None of the replicas listens');
    })().catch(() => res.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    landed,
    balance: (urls) => void (replicas = urls),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
