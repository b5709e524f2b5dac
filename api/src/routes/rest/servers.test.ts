import { type Server, createServer as listen } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayError, type UserPrincipal } from '@behalf/gateway';
import { createRedactor, systemRandom } from '@behalf/kernel';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createConfigureRig, remoteDefinition } from '../../../../packages/gateway/test/configureRig.ts';
import { createProblemMap } from '../../http/errors.ts';
import { createApp } from '../../http/server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { adminServerRoutes } from '../admin/servers.ts';
import { serverRoutes } from './servers.ts';

const own = { ...remoteDefinition, url: 'https://user.example/mcp', title: 'My Server' };
let server: Server | undefined;

/** The routes alone, for whoever `x-user` names. */
async function begin(file: Record<string, unknown> = {}) {
  const rig = await createConfigureRig(file);
  const users = new Map<string, UserPrincipal>([
    ['ada', rig.createPrincipal('ada', 'MAKER')],
    ['root', rig.createPrincipal('root', 'ADMIN')],
  ]);
  const logger = createLogger({ level: 'error', pretty: false, redactor: () => createRedactor() });
  const listener = createApp({
    routes: [...serverRoutes(rig.parts), ...adminServerRoutes(rig.parts)],
    admission: {
      check: () => undefined,
      checkOrigin: () => undefined,
      authenticate(req, { access }) {
        const caller = users.get(String(req.headers['x-user'] ?? 'ada'))!;
        if (access === 'admin' && caller.role !== 'ADMIN') throw new GatewayError('FORBIDDEN');
        return caller;
      },
    },
    headers: {},
    problemOf: createProblemMap({ random: systemRandom, logger }),
    trustProxy: 0,
  });
  const started = listen(listener);
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const { port } = started.address() as AddressInfo;
  const ask = async (
    method: string,
    path: string,
    { body, ...headers }: { body?: unknown } & Record<string, unknown> = {},
  ) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(headers as Record<string, string>) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return { ...rig, ask };
}

describe('the routes of servers', () => {
  afterEach(() => void server?.close());

  test('a server is created, read, changed and removed', async () => {
    const { ask } = await begin({ file: remoteDefinition });
    const created = await ask('POST', '/api/mcp/servers', { body: { config: own } });
    expect([created.status, created.headers.get('etag'), created.headers.get('location')]).toEqual([
      201,
      '"1"',
      '/api/mcp/servers/my-server',
    ]);
    expect(created.body).toMatchObject({ serverName: 'my-server', url: own.url, version: 1 });
    const read = await ask('GET', '/api/mcp/servers/my-server');
    expect([read.status, read.headers.get('etag')]).toEqual([200, '"1"']);
    const { serverName: _name, ...view } = created.body as { serverName: string };
    expect(read.body).toEqual(view);
    expect((await ask('GET', '/api/mcp/servers')).body).toEqual({
      file: expect.objectContaining({ source: 'yaml' }),
      'my-server': view,
    });
    const stale = await ask('PATCH', '/api/mcp/servers/my-server', {
      body: { config: own },
      'if-match': '"7"',
    });
    expect([stale.status, stale.body]).toMatchObject([412, { code: 'MCP_VERSION_CONFLICT' }]);
    const changed = await ask('PATCH', '/api/mcp/servers/my-server', {
      body: { config: { ...own, title: 'New' } },
      'if-match': '"1"',
    });
    expect([changed.status, changed.headers.get('etag'), changed.body]).toMatchObject([
      200,
      '"2"',
      { serverName: 'my-server', title: 'New' },
    ]);
    const merged = await ask('PATCH', '/api/mcp/servers/my-server', {
      body: { config: { description: 'Only this', title: null } },
      'content-type': 'application/merge-patch+json',
    });
    expect([merged.status, merged.body]).toMatchObject([200, { url: own.url, description: 'Only this' }]);
    expect(merged.body).not.toHaveProperty('title');
    const managed = await ask('DELETE', '/api/mcp/servers/file');
    expect([managed.status, managed.body]).toMatchObject([409, { code: 'MCP_SERVER_MANAGED' }]);
    const removed = await ask('DELETE', '/api/mcp/servers/my-server');
    expect([removed.status, removed.body]).toEqual([200, { message: 'MCP server deleted successfully' }]);
    expect((await ask('GET', '/api/mcp/servers/my-server')).status).toBe(404);
  });

  test('what is wrong is named by field, and a page by a link', async () => {
    const { ask } = await begin({ a: remoteDefinition, b: remoteDefinition, c: remoteDefinition });
    const wrong = await ask('POST', '/api/mcp/servers', { body: { config: { ...own, timeout: 5 } } });
    expect([wrong.status, wrong.body]).toMatchObject([
      400,
      { code: 'MCP_CONFIG_INVALID', errors: [{ path: 'config.timeout', code: 'operator_only' }] },
    ]);
    for (const body of [{}, { config: [] }, { config: own, more: 1 }]) {
      expect(await ask('POST', '/api/mcp/servers', { body })).toMatchObject({
        status: 400,
        body: { code: 'REQUEST_INVALID' },
      });
    }
    const page = await ask('GET', '/api/mcp/servers?limit=2&search=');
    expect(Object.keys(page.body as object)).toEqual(['a', 'b']);
    expect(page.headers.get('link')).toBe('</api/mcp/servers?after=b&limit=2&search=>; rel="next"');
    const last = await ask('GET', '/api/mcp/servers?limit=2&after=b');
    expect([Object.keys(last.body as object), last.headers.get('link')]).toEqual([['c'], null]);
    expect((await ask('GET', '/api/mcp/servers?limit=0')).status).toBe(400);
  });

  test('an administrator lists everything and overrides the file', async () => {
    const { ask } = await begin({ file: remoteDefinition });
    await ask('POST', '/api/mcp/servers', { body: { config: own } });
    expect((await ask('GET', '/api/admin/mcp/servers')).status).toBe(403);
    const asRoot = { 'x-user': 'root' };
    const config = { headers: { A: 'pl4nted' }, timeout: 5 };
    const put = await ask('PUT', '/api/admin/mcp/servers/file', { body: { config }, ...asRoot });
    expect([put.status, put.headers.get('etag')]).toEqual([200, '"1"']);
    const read = await ask('GET', '/api/admin/mcp/servers/file', asRoot);
    expect(read.body).toEqual(put.body);
    expect(JSON.stringify(read.body)).not.toContain('pl4nted');
    const all = await ask('GET', '/api/admin/mcp/servers', asRoot);
    expect(all.body).toMatchObject({
      servers: [
        { serverName: 'file', source: 'config', overridden: true },
        { serverName: 'my-server', source: 'user', author: 'ada', overridden: false },
      ],
      notOffered: [],
    });
    const removed = await ask('DELETE', '/api/admin/mcp/servers/file', { 'if-match': '"1"', ...asRoot });
    expect([removed.status, removed.body]).toEqual([200, { message: 'Override deleted successfully' }]);
    expect((await ask('DELETE', '/api/admin/mcp/servers/file', asRoot)).status).toBe(404);
  });
});
