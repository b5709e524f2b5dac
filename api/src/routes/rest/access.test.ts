import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpStatus } from '@behalf/contracts';
import { GatewayError, type UserPrincipal } from '@behalf/gateway';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createAccessRig } from '../../../../packages/gateway/test/accessRig.ts';
import { defineServer } from '../../../../packages/gateway/test/toolcallRig.ts';
import { createApp } from '../../http/server.ts';
import { adminRoleRoutes, roleRoutes } from '../admin/roles.ts';
import { adminSessionRoutes, adminUserRoutes } from '../admin/users.ts';
import { permissionRoutes } from './permissions.ts';
import { ownSessionRoutes } from './user.ts';

describe('access over REST', () => {
  const listening: Server[] = [];
  afterEach(async () => {
    for (const server of listening.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  /** The routes as they are, behind a door that believes who somebody says they are. */
  async function createRig() {
    const rig = createAccessRig();
    const servers = [defineServer('s', {}, { source: 'user', author: 'ada' }), defineServer('file')];
    const namedPermissions = { ADMIN: {}, USER: { SHARE: true } };
    const gateway = rig.gateway({ servers, namedPermissions });
    await gateway.ready;
    const users = new Map<string, UserPrincipal>();
    for (const id of ['ada', 'bob', 'root']) {
      users.set(id, await rig.createUser(id, { role: id === 'root' ? 'ADMIN' : 'USER' }));
    }
    await gateway.acl.grantOwner({ tenant: 'default', id: 's' }, 'ada');
    const { sharing, roles, roleAdmin, userAdmin, sessions } = gateway;
    const listener = createApp({
      routes: [
        ...permissionRoutes(sharing),
        ...adminRoleRoutes(roleAdmin),
        ...adminUserRoutes(userAdmin),
        ...adminSessionRoutes(userAdmin),
        ...roleRoutes({ roles, roleAdmin }),
        ...ownSessionRoutes({ sessions, audit: sharing.audit }),
      ],
      admission: {
        check: () => undefined,
        checkOrigin: () => undefined,
        authenticate: (req) => users.get(String(req.headers['x-as'])) as UserPrincipal,
      },
      headers: {},
      problemOf: (error) => {
        const code = error instanceof GatewayError ? error.code : 'INTERNAL';
        return { problem: { status: httpStatus(code), code } as never, headers: {} };
      },
      trustProxy: 0,
    });
    const server = createServer(listener).listen(0, '127.0.0.1');
    listening.push(server);
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;

    async function ask(who: string, line: string, body?: unknown, headers: Record<string, string> = {}) {
      const [method = '', path = ''] = line.split(' ');
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { 'x-as': who, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const answer = text === '' ? null : (JSON.parse(text) as unknown);
      return { status: response.status, answer, etag: response.headers.get('etag') };
    }
    return { ...rig, ...gateway, ask, users };
  }

  test('a server is shared as an existing front end does it', async () => {
    const { ask } = await createRig();
    expect((await ask('ada', 'GET /api/permissions/mcpServer/roles')).answer).toMatchObject([
      { accessRoleId: 'mcpServer_viewer', permBits: 1 },
      { accessRoleId: 'mcpServer_editor', permBits: 3 },
      { accessRoleId: 'mcpServer_owner', permBits: 15 },
    ]);
    const found = await ask('ada', 'GET /api/permissions/search-principals?q=bob&limit=5&types=user,role');
    const bob = { type: 'user', id: 'bob', name: 'bob', email: 'bob@example.com' };
    expect(found.answer).toEqual({
      ...{ query: 'bob', limit: 5, types: ['user', 'role'], count: 1, sources: { local: 1, entra: 0 } },
      results: [{ ...bob, source: 'local' }],
    });
    const ada = { type: 'user', id: 'ada', name: 'ada', email: 'ada@example.com' };
    const principals = [
      { ...ada, accessRoleId: 'mcpServer_owner' },
      { ...bob, accessRoleId: 'mcpServer_editor' },
    ];
    const sent = { ...bob, source: 'local', accessRoleId: 'mcpServer_editor', idOnTheSource: 'x' };
    const put = await ask('ada', 'PUT /api/permissions/mcpServer/s', {
      ...{ updated: [sent], removed: [], public: false, publicAccessRoleId: null },
    });
    expect(put).toMatchObject({
      status: 200,
      answer: { message: expect.any(String), results: { principals, public: false } },
    });
    expect((await ask('ada', 'GET /api/permissions/mcpServer/s')).answer).toEqual({
      ...{ resourceType: 'mcpServer', resourceId: 's', principals, public: false },
    });
    expect((await ask('bob', 'GET /api/permissions/mcpServer/s/effective')).answer).toEqual({
      permissionBits: 3,
    });
    expect((await ask('bob', 'GET /api/permissions/mcpServer/effective/all')).answer).toEqual({
      ...{ s: 3, file: 1 },
    });
  });

  test('what is refused is refused with its code', async () => {
    const { ask } = await createRig();
    const open = { updated: [], removed: [], public: true };
    for (const [who, line, body, code] of [
      ['bob', 'GET /api/permissions/mcpServer/s', undefined, 'MCP_SERVER_NOT_FOUND'],
      ['bob', 'GET /api/permissions/mcpServer/none', undefined, 'MCP_SERVER_NOT_FOUND'],
      ['bob', 'GET /api/permissions/mcpServer/file', undefined, 'MCP_ACL_FORBIDDEN'],
      ['ada', 'PUT /api/permissions/mcpServer/s', open, 'MCP_FORBIDDEN'],
      ['ada', 'PUT /api/permissions/mcpServer/s', {}, 'REQUEST_INVALID'],
      [
        'ada',
        'PUT /api/permissions/mcpServer/s',
        { ...open, updated: [{ type: 'public' }] },
        'REQUEST_INVALID',
      ],
      ['ada', 'GET /api/permissions/search-principals?q=b', undefined, 'REQUEST_INVALID'],
      ['ada', 'GET /api/permissions/search-principals?q=bob&types=robot', undefined, 'REQUEST_INVALID'],
    ] as const) {
      expect([line, await ask(who, line, body)]).toMatchObject([line, { answer: { code } }]);
    }
  });

  test('roles are made, changed by version, and deleted', async () => {
    const { ask } = await createRig();
    const bits = (more: object) => ({ permissions: { MCP_SERVERS: more } });
    const made = await ask('root', 'POST /api/admin/roles', { name: 'Data team', ...bits({ USE: true }) });
    expect(made).toMatchObject({ status: 201, etag: '"1"' });
    expect(made.answer).toMatchObject({
      name: 'Data team',
      builtIn: false,
      version: 1,
      ...bits({ USE: true }),
    });
    const one = '/api/admin/roles/Data%20team';
    const change = (tag: string) => ask('root', `PATCH ${one}`, bits({ CREATE: true }), { 'if-match': tag });
    expect((await change('"7"')).status).toBe(412);
    for (const other of ['1', '"01"', '', '"7", "8"']) expect((await change(other)).status).toBe(412);
    expect(await change('"7", W/"1"')).toMatchObject({ status: 200, etag: '"2"' });
    expect(await change('W/"2"')).toMatchObject({ status: 200, etag: '"2"' });
    expect(await change('"7", *')).toMatchObject({ status: 200, etag: '"2"' });
    expect(await ask('root', `GET ${one}`)).toMatchObject({ answer: { version: 2 } });
    expect(await ask('root', `DELETE ${one}`)).toMatchObject({ status: 204, answer: null });
    expect((await ask('root', `GET ${one}`)).status).toBe(404);
    const list = (await ask('root', 'GET /api/admin/roles')).answer as { roles: { name: string }[] };
    expect(list.roles.map(({ name }) => name)).toEqual(['ADMIN', 'USER']);
    for (const name of ['', ' x', 'x ', '1x', 'x'.repeat(65), 'ＡＤＭＩＮ', 'a/b']) {
      expect([name, (await ask('root', 'POST /api/admin/roles', { name })).status]).toEqual([name, 400]);
    }
    expect((await ask('root', 'PATCH /api/admin/roles/USER', bits({ DELETE: true }))).status).toBe(400);
  });

  test('the role routes of an existing front end', async () => {
    const { ask } = await createRig();
    expect((await ask('bob', 'GET /api/roles/user')).answer).toEqual({
      name: 'USER',
      permissions: {
        MCP_SERVERS: { USE: true, CREATE: false, SHARE: true, SHARE_PUBLIC: false, CONFIGURE_OBO: false },
      },
    });
    for (const other of ['admin', 'nothing']) {
      expect((await ask('bob', `GET /api/roles/${other}`)).answer).toMatchObject({ code: 'FORBIDDEN' });
    }
    expect((await ask('root', 'GET /api/roles/nothing')).status).toBe(404);
    const all = { USE: true, CREATE: true, SHARE: true };
    expect((await ask('root', 'PUT /api/roles/user/mcp-servers', all)).answer).toMatchObject({
      permissions: { MCP_SERVERS: all },
    });
    expect((await ask('root', 'PUT /api/roles/user/mcp-servers', { SHARE: false })).answer).toMatchObject({
      code: 'ROLE_MANAGED',
    });
  });

  test('users and their sessions', async () => {
    const { ask, sessions, store } = await createRig();
    const { hash } = await sessions.start((await store.users.findById('bob'))!);
    const page = await ask('root', 'GET /api/admin/users?limit=1&search=b');
    expect(page.answer).toMatchObject({ users: [{ id: 'bob', role: 'USER', disabled: false }], next: null });
    expect(JSON.stringify(page.answer)).not.toContain('passwordSealed');
    const listed = await ask('root', 'GET /api/admin/users/bob/sessions');
    expect(listed.answer).toMatchObject({ sessions: [{ id: hash, via: 'password', current: false }] });
    expect((await ask('root', `DELETE /api/admin/users/bob/sessions/${hash}`)).status).toBe(204);
    expect((await ask('root', `DELETE /api/admin/users/bob/sessions/${hash}`)).status).toBe(404);
    expect((await ask('root', 'DELETE /api/admin/users/bob/sessions')).answer).toEqual({ ended: 0 });
    expect((await ask('root', 'PATCH /api/admin/users/bob', { disabled: true })).answer).toMatchObject({
      ...{ id: 'bob', disabled: true, disabledAt: expect.any(Number) },
    });
    for (const body of [{}, { role: 'USER', roleSource: 'claim' }, { email: 'x@example.com' }]) {
      expect((await ask('root', 'PATCH /api/admin/users/bob', body)).status).toBe(400);
    }
    expect((await ask('root', 'PATCH /api/admin/users/root', { role: 'USER' })).status).toBe(409);
  });

  test('everybody ends sessions of their own', async () => {
    const { ask, sessions, store, events, users } = await createRig();
    const start = async (id: string) => sessions.start((await store.users.findById(id))!);
    const [mine, theirs] = [await start('ada'), await start('bob')];
    expect((await ask('ada', 'GET /api/user/sessions')).answer).toMatchObject({
      sessions: [{ id: mine.hash, current: false }],
    });
    expect((await ask('ada', `DELETE /api/user/sessions/${theirs.hash}`)).answer).toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    expect((await ask('ada', `DELETE /api/user/sessions/${mine.hash}`)).status).toBe(204);
    expect([await sessions.resolve(mine.secret), (await sessions.resolve(theirs.secret)) !== null]).toEqual([
      null,
      true,
    ]);
    users.set('ada', { ...users.get('ada')!, authentication: { via: 'bearer' } });
    const another = await start('ada');
    expect((await ask('ada', `DELETE /api/user/sessions/${another.hash}`)).status).toBe(204);
    const event = { kind: 'sign_in', action: 'session.end' };
    expect(events).toMatchObject([
      { ...event, actor: { id: 'ada', by: 'session' }, door: 'browser' },
      { ...event, actor: { id: 'ada', by: 'bearer' }, door: 'rest' },
    ]);
  });
});
