import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDevAuthority } from '@behalf/devidp';
import { verifies } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { signedIn } from './browser.ts';
import { connect, facadeOf, REDIRECT, visit, type FacadeClientRig } from './facadeScene.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';

describe('clients that describe themselves', () => {
  let dir: string;
  let server: Server;
  let origin: string;
  let gateway: InProcessGateway;
  let facade: FacadeClientRig;
  let ada: Awaited<ReturnType<typeof signedIn>>;
  let connections = 0;
  const documents = new Map<string, unknown>();

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'behalf-clients-'));
    const ca = await createDevAuthority();
    server = createServer(await ca.issue(), (req, res) => {
      const found = documents.get(req.url ?? '');
      if (req.url === '/moved') res.writeHead(302, { location: '/client.json' }).end();
      else
        res.writeHead(found ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(found));
    });
    server.on('connection', () => (connections += 1));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    origin = `https://localhost:${port}`;
    gateway = await startInProcess(
      {},
      JSON.stringify({
        mcpSettings: { allowedAddresses: [`localhost:${port}`] },
        authorizationServer: { enabled: true, caFile: await ca.writeCaFile(dir) },
      }),
    );
    ada = await signedIn(gateway);
    facade = await facadeOf(gateway.url);
  });
  afterAll(async () => {
    await gateway.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(dir, { recursive: true, force: true });
  });

  function publish(path: string, over: Record<string, unknown> = {}): string {
    const clientId = `${origin}${path}`;
    documents.set(path, {
      client_id: clientId,
      client_name: 'Described',
      redirect_uris: [REDIRECT],
      ...over,
    });
    return clientId;
  }
  const ask = (clientId: string) => visit(ada, facade.request(clientId).path, gateway.url);

  verifies(
    'facade.cimd.document',
    'a client is the address of its document, and its host is shown',
    async () => {
      const clientId = publish('/client.json');
      const text = await (await ask(clientId)).text();
      expect(text).toContain('<strong>Described</strong>');
      expect(text).toContain(`<strong>${new URL(origin).host}</strong>`);
      const tokens = await connect(facade, ada, gateway.url, clientId);
      expect((await facade.refresh(clientId, tokens.refresh_token)).status).toBe(200);
    },
  );

  verifies('facade.cimd.foreign', 'a document that is not its own is nobody’s', async () => {
    publish('/client.json');
    const foreign = publish('/foreign.json', { client_id: `${origin}/client.json` });
    const shared = publish('/secret.json', { token_endpoint_auth_method: 'client_secret_post' });
    for (const clientId of [foreign, shared, `${origin}/missing.json`, `${origin}/moved`]) {
      const answer = await ada.get(facade.request(clientId).path);
      expect([clientId, answer.status, answer.headers.get('location')]).toEqual([clientId, 400, null]);
    }
  });

  verifies('facade.cimd.private', 'nobody makes us ask in private space', async () => {
    const before = connections;
    const { port } = server.address() as AddressInfo;
    for (const host of [`127.0.0.1:${port}`, `[::1]:${port}`, '10.0.0.1', '169.254.169.254', 'localhost:1']) {
      const answer = await ada.get(facade.request(`https://${host}/client.json`).path);
      expect([host, answer.status, answer.headers.get('location')]).toEqual([host, 400, null]);
    }
    // Nor do the keys that a client says it has: the library asks for them by the same door.
    expect(connections).toBe(before);
  });
});

describe('clients that register themselves', () => {
  const start = (registration: object) =>
    startInProcess({}, JSON.stringify({ authorizationServer: { enabled: true, registration } }));
  const register = async (url: string) => {
    const response = await fetch(`${url}/as/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [REDIRECT] }),
    });
    await response.arrayBuffer();
    return response;
  };

  verifies('facade.registration.rate', 'a thousand in a minute are ten, and the rest wait', async () => {
    const gateway = await start({});
    try {
      const statuses: number[] = [];
      for (let batch = 0; batch < 20; batch += 1) {
        const answers = await Promise.all(Array.from({ length: 50 }, () => register(gateway.url)));
        statuses.push(...answers.map(({ status }) => status));
      }
      expect(statuses.slice(0, 50)).toContain(201);
      // What a minute gives, and what came back of it while this ran.
      expect(statuses.filter((status) => status === 201).length).toBeLessThanOrEqual(20);
      expect(new Set(statuses)).toEqual(new Set([201, 429]));
      const late = await register(gateway.url);
      expect([late.status, Number(late.headers.get('retry-after')) > 0]).toEqual([429, true]);
      // Nobody else waits for it.
      expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    } finally {
      await gateway.close();
    }
  });

  verifies('facade.registration.cap', 'there are never more than the operator wants', async () => {
    const gateway = await start({ perMinute: 1_000, most: 3 });
    try {
      const statuses = [];
      for (let i = 0; i < 5; i += 1) statuses.push((await register(gateway.url)).status);
      expect(statuses).toEqual([201, 201, 201, 429, 429]);
    } finally {
      await gateway.close();
    }
  });

  verifies('facade.registration.off', 'where it is off, nobody does', async () => {
    const gateway = await start({ enabled: false });
    try {
      expect((await register(gateway.url)).status).toBe(404);
      const { metadata } = await facadeOf(gateway.url);
      expect(metadata).not.toHaveProperty('registration_endpoint');
    } finally {
      await gateway.close();
    }
  });
});
