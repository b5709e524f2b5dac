import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { spawnGateway, type ServerDefinition, type SpawnedGateway } from './spawnGateway.ts';

export interface GatewayProxy {
  /** For who can send one. */
  readonly key: string;
  /** Where one server is reached through the gateway, or all of them, by whoever has no token. */
  urlOf(server?: string): string;
  /** Without the proxy. */
  gatewayUrl(path: string): string;
  close(): Promise<void>;
}

/** A gateway in a process of its own, and before it a proxy that adds the token which the suite cannot send. */
export async function startGatewayProxy(
  mcpServers: Readonly<Record<string, ServerDefinition>>,
): Promise<GatewayProxy> {
  const target: { key?: string; port?: number } = {};
  const proxy = createServer((req, res) => {
    // Before there is a key, the proxy makes one.
    const headers = { ...req.headers, ...(target.key && { authorization: `Bearer ${target.key}` }) };
    const { method, url: path } = req;
    const forwarded = request({ host: '127.0.0.1', port: target.port, method, path, headers }, (response) => {
      res.writeHead(response.statusCode ?? 502, response.rawHeaders);
      response.pipe(res);
    });
    forwarded.on('error', () => res.destroy());
    res.on('close', () => forwarded.destroy());
    req.pipe(forwarded);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

  const stopProxy = () => {
    proxy.closeAllConnections();
    proxy.close();
  };
  let gateway: SpawnedGateway | undefined;
  try {
    // The proxy is where people reach it: a page from anywhere else is a stranger's.
    const spawned = await spawnGateway(mcpServers, { PUBLIC_URL: origin });
    gateway = spawned;
    const { port, setupToken } = spawned;
    target.port = port;
    target.key = await createApiKey(origin, setupToken);
    return {
      key: target.key,
      gatewayUrl: (path) => `http://127.0.0.1:${port}${path}`,
      urlOf: (server) => `${origin}/mcp${server === undefined ? '' : `/${server}`}`,
      close: async () => {
        stopProxy();
        await spawned.close();
      },
    };
  } catch (error) {
    stopProxy();
    await gateway?.close();
    throw error;
  }
}

/** Of the first administrator, who comes in through the link of the start. */
async function createApiKey(origin: string, setupToken: string): Promise<string> {
  const post = (path: string, body: object, cookie = '') =>
    fetch(origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin, cookie },
      body: JSON.stringify(body),
    });
  const account = { email: 'suite@example.com', name: 'Suite', password: 'correct horse battery' };
  const setupResponse = await post('/api/auth/setup', { token: setupToken, ...account });
  const cookie = setupResponse.headers
    .getSetCookie()
    .map((setCookie) => setCookie.split(';', 1)[0])
    .join('; ');
  const keyResponse = await post('/api/user/keys', { name: 'suite', scopes: ['mcp'] }, cookie);
  if (keyResponse.status !== 201) throw new Error(`No API key: ${await keyResponse.text()}`);
  return ((await keyResponse.json()) as { key: string }).key;
}
