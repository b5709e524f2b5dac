import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { spawnGateway, type Definition, type SpawnedGateway } from './spawnGateway.ts';

export interface BehindGateway {
  /** For who can send one. */
  readonly key: string;
  /** Where one server is reached through the gateway, or all of them, by whoever has no token. */
  urlOf(server?: string): string;
  /** Without the proxy. */
  gatewayUrl(path: string): string;
  close(): Promise<void>;
}

/** A gateway in a process of its own, and before it a proxy that adds the token which the suite cannot send. */
export async function startBehindGateway(
  mcpServers: Readonly<Record<string, Definition>>,
): Promise<BehindGateway> {
  const token: { key?: string; port?: number } = {};
  const proxy = createServer((req, res) => {
    // Before there is a key, the proxy makes one.
    const headers = { ...req.headers, ...(token.key && { authorization: `Bearer ${token.key}` }) };
    const { method, url: path } = req;
    const onward = request({ host: '127.0.0.1', port: token.port, method, path, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(res);
    });
    onward.on('error', () => res.destroy());
    res.on('close', () => onward.destroy());
    req.pipe(onward);
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
    const started = await spawnGateway(mcpServers, { PUBLIC_URL: origin });
    gateway = started;
    const { port, setupToken } = started;
    token.port = port;
    token.key = await makeKey(origin, setupToken);
    return {
      key: token.key,
      gatewayUrl: (path) => `http://127.0.0.1:${port}${path}`,
      urlOf: (server) => `${origin}/mcp${server === undefined ? '' : `/${server}`}`,
      close: async () => {
        stopProxy();
        await started.close();
      },
    };
  } catch (error) {
    stopProxy();
    await gateway?.close();
    throw error;
  }
}

/** Of the first administrator, who comes in through the link of the start. */
async function makeKey(origin: string, setup: string): Promise<string> {
  const post = (path: string, body: object, cookie = '') =>
    fetch(origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin, cookie },
      body: JSON.stringify(body),
    });
  const account = { email: 'suite@example.com', name: 'Suite', password: 'correct horse battery' };
  const created = await post('/api/auth/setup', { token: setup, ...account });
  const cookie = created.headers
    .getSetCookie()
    .map((one) => one.split(';', 1)[0])
    .join('; ');
  const made = await post('/api/user/keys', { name: 'suite', scopes: ['mcp'] }, cookie);
  if (made.status !== 201) throw new Error(`No API key: ${await made.text()}`);
  return ((await made.json()) as { key: string }).key;
}
