import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDevAuthority } from '@behalf/devidp';
import { CLIENT_REDIRECT_URI } from './authorizationServerRig.ts';

/** A host where clients have their documents and keys, with a certificate of its own. */
export async function startDocumentHost() {
  const dir = await mkdtemp(join(tmpdir(), 'behalf-clients-'));
  const ca = await createDevAuthority();
  const documents = new Map<string, unknown>();
  /** How often each path was asked for. */
  const hitCounts = new Map<string, number>();
  let connectionCount = 0;
  const server = createServer(await ca.issue(), (req, res) => {
    const path = req.url ?? '';
    hitCounts.set(path, (hitCounts.get(path) ?? 0) + 1);
    const document = documents.get(path);
    if (path === '/moved') res.writeHead(302, { location: '/client.json' }).end();
    else
      res
        .writeHead(document ? 200 : 404, { 'content-type': 'application/json' })
        .end(JSON.stringify(document));
  });
  server.on('connection', () => (connectionCount += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `https://localhost:${port}`;
  return {
    ...{ origin, port, documents, hitCounts },
    connections: () => connectionCount,
    caFile: await ca.writeCaFile(dir),
    /** The id of a client whose document is here now. */
    publish(path: string, overrides: Record<string, unknown> = {}): string {
      const clientId = origin + path;
      documents.set(path, {
        client_id: clientId,
        client_name: 'Described',
        redirect_uris: [CLIENT_REDIRECT_URI],
        ...overrides,
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
