import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstLine } from './children.ts';
import { root } from './suite.ts';

/** A server as an operator would define it. */
export interface Definition {
  readonly url?: string;
  readonly [field: string]: unknown;
}

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
  const dir = await mkdtemp(join(tmpdir(), 'behalf-conformance-'));
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

  const operatorAddresses = Object.values(mcpServers).flatMap(({ url }) =>
    url === undefined ? [] : [new URL(url).host],
  );
  await writeFile(
    join(dir, 'librechat.yaml'),
    JSON.stringify({ mcpSettings: { operatorAddresses }, mcpServers }),
  );
  const gateway = spawn(
    process.execPath,
    ['--no-warnings', '--import', join(root, 'tools/ts-loader.mjs'), join(root, 'api/src/main.ts')],
    {
      cwd: dir,
      // The proxy is where people reach it: a page from anywhere else is a stranger's.
      env: { PATH: process.env['PATH'] ?? '', PORT: '0', PUBLIC_URL: origin, RATE_LIMIT_CALLS: '100000' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const close = async () => {
    proxy.closeAllConnections();
    proxy.close();
    if (gateway.exitCode === null) {
      gateway.kill();
      await once(gateway, 'exit');
    }
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const said: string[] = [];
    const listening = await firstLine(gateway, (line) => {
      said.push(line);
      return line.includes('is listening on');
    });
    token.port = Number(/"port":(\d+)/.exec(listening)?.[1]);
    token.key = await makeKey(origin, /\/setup\?token=(\S+)/.exec(said.join('\n'))?.[1] ?? '');
    return {
      key: token.key,
      gatewayUrl: (path) => `http://127.0.0.1:${token.port ?? 0}${path}`,
      urlOf: (server) => `${origin}/mcp${server === undefined ? '' : `/${server}`}`,
      close,
    };
  } catch (error) {
    await close();
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
