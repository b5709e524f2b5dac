import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDevAuthority } from '@behalf/devidp';
import { REDIRECT } from './facadeScene.ts';

/** A host where clients have their documents and keys, with a certificate of its own. */
export async function startDocumentHost() {
  const dir = await mkdtemp(join(tmpdir(), 'behalf-clients-'));
  const ca = await createDevAuthority();
  const documents = new Map<string, unknown>();
  /** How often each path was asked for. */
  const hits = new Map<string, number>();
  let connections = 0;
  const server = createServer(await ca.issue(), (req, res) => {
    const path = req.url ?? '';
    hits.set(path, (hits.get(path) ?? 0) + 1);
    const found = documents.get(path);
    if (path === '/moved') res.writeHead(302, { location: '/client.json' }).end();
    else res.writeHead(found ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(found));
  });
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `https://localhost:${port}`;
  return {
    ...{ origin, port, documents, hits },
    connections: () => connections,
    caFile: await ca.writeCaFile(dir),
    /** The id of a client whose document is here now. */
    publish(path: string, over: Record<string, unknown> = {}): string {
      const clientId = origin + path;
      documents.set(path, {
        client_id: clientId,
        client_name: 'Described',
        redirect_uris: [REDIRECT],
        ...over,
      });
      return clientId;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(dir, { recursive: true, force: true });
    },
  };
}
export type DocumentHost = Awaited<ReturnType<typeof startDocumentHost>>;
