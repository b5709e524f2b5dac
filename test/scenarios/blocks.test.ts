import { BlocksView, BlockView, Problem } from '@behalf/contracts';
import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { readResponse, checkBlock, runBlock, saveBlock, shareBlock, sharingSettings } from './blockRig.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const schema = {
  type: 'object',
  properties: {
    to: { type: 'string', title: 'Recipient', description: 'Who gets it' },
    count: { type: 'integer', minimum: 1 },
    note: { $ref: '#/$defs/note' },
  },
  required: ['to', 'count'],
  additionalProperties: false,
  $defs: { note: { type: 'string', maxLength: 5 } },
};

describe('blocks', () => {
  const rig = createGatewayRig();
  const tools = [{ name: 'send', title: 'Send it', inputSchema: schema }];

  async function begin(names: Parameters<typeof rig.start>[1] = ['Ada', 'Bob']) {
    const server = await rig.startServer({ era: 'legacy', tools });
    const more = { mcpSettings: { allowedAddresses: [new URL(server.url).host] }, ...sharingSettings };
    const users = await rig.start(renderYaml({ post: httpDefinition(server.url) }, more), names);
    return { server, users: users as [TestUser, TestUser, TestUser] };
  }
  const at = (id: string) => `/api/mcp/blocks/${id}`;
  const list = async (who: TestUser) => {
    const { body } = await readResponse(who.get('/api/mcp/blocks'));
    return BlocksView.parse(body).blocks;
  };
  const fixed = (value: unknown) => ({ mode: 'fixed', value });

  test('title, inputs and the tool’s schema are there after saving and after a restart', async () => {
    const { users } = await begin();
    const [ada] = users;
    const inputs = { to: fixed('bob'), count: { mode: 'default', value: 2 }, note: { mode: 'ask' } };
    const request = { server: 'post', tool: 'send', title: ' To <b>Bob</b> ', description: 'x', inputs };
    const saved = BlockView.parse(await saveBlock(ada, request));
    expect(saved).toMatchObject({
      ...{ title: 'To <b>Bob</b>', description: 'x', inputs, tool: 'send', owner: ada.id },
      ...{ server: { name: 'post', state: 'available' }, inputSchema: schema, version: 1 },
      permissions: 15,
    });
    expect((await readResponse(ada.get(at(saved.id)))).body).toEqual(saved);
    const [again] = await rig.startReplica([ada]);
    expect((await readResponse(again!.get(at(saved.id)))).body).toEqual(saved);
    const { inputSchema: _schema, ...summary } = saved;
    expect(await list(ada)).toEqual([summary]);
    // Without a name of one's own it is called as the server calls the tool.
    expect(await saveBlock(ada, { server: 'post', tool: 'send' })).toMatchObject({
      title: 'Send it',
      inputs: {},
    });
  });

  test('a value that does not fit its part of the schema is refused', async () => {
    const { users, server } = await begin();
    const [ada] = users;
    const refused = async (inputs: object) => {
      const { status, body } = await readResponse(
        ada.post('/api/mcp/blocks', { server: 'post', tool: 'send', inputs }),
      );
      const { code, errors } = Problem.parse(body);
      return [status, code, errors?.map(({ path }) => path)];
    };
    for (const mode of ['fixed', 'default']) {
      const bad = (value: unknown) => ({ mode, value });
      expect(await refused({ to: bad(7) })).toEqual([400, 'BLOCK_INPUTS_INVALID', ['inputs.to']]);
      expect(await refused({ count: bad(0) })).toEqual([400, 'BLOCK_INPUTS_INVALID', ['inputs.count']]);
      expect(await refused({ note: bad('longer') })).toEqual([400, 'BLOCK_INPUTS_INVALID', ['inputs.note']]);
      expect(await refused({ other: bad(1) })).toEqual([400, 'BLOCK_INPUTS_INVALID', ['inputs.other']]);
    }
    expect(await refused({ other: { mode: 'ask' } })).toEqual([
      400,
      'BLOCK_INPUTS_INVALID',
      ['inputs.other'],
    ]);
    expect(await refused({ to: { mode: 'fixed' } })).toEqual([400, 'REQUEST_INVALID', ['inputs.to.value']]);
    expect(await list(ada)).toEqual([]);
    expect(server.received('tools/call')).toEqual([]);
  });

  test('only of a server and a tool that the author has; others do not exist', async () => {
    const { users, server } = await begin();
    const [ada, bob] = users;
    const config = { type: 'streamable-http', url: server.url, title: 'Mine' };
    const made = await readResponse<{ serverName: string }>(ada.post('/api/mcp/servers', { config }));
    const { serverName } = made.body;
    const save = async (who: TestUser, name: string, tool: string) => {
      const { status, body } = await readResponse(who.post('/api/mcp/blocks', { server: name, tool }));
      return [status, (body as Problem).code];
    };
    expect(await save(ada, serverName, 'send')).toEqual([201, undefined]);
    expect(await save(bob, serverName, 'send')).toEqual([404, 'MCP_SERVER_NOT_FOUND']);
    expect(await save(bob, 'nowhere', 'send')).toEqual([404, 'MCP_SERVER_NOT_FOUND']);
    expect(await save(ada, 'post', 'nothing')).toEqual([404, 'MCP_TOOL_NOT_FOUND']);
  });

  test('somebody else’s block answers as one that does not exist, to an administrator too', async () => {
    const { users } = await begin(['Ada', 'Bob', { name: 'Root', role: 'ADMIN' }]);
    const [ada, bob, root] = users;
    const { id } = await saveBlock(ada, { server: 'post', tool: 'send', title: 'Mine' });
    for (const unrelatedUser of [bob, root]) {
      expect(await list(unrelatedUser)).toEqual([]);
      const asks = (of: string) => [
        unrelatedUser.get(at(of)),
        unrelatedUser.send('PATCH', at(of), { title: 'Theirs' }),
        unrelatedUser.send('DELETE', at(of)),
        unrelatedUser.post(`${at(of)}/run`, { inputs: { to: 'x', count: 1 } }),
        unrelatedUser.get(`/api/permissions/block/${of}`),
        unrelatedUser.send('PUT', `/api/permissions/block/${of}`, { public: true }),
      ];
      const [theirs, none] = await Promise.all(
        [id, 'unknown'].map((of) => Promise.all(asks(of).map((ask) => readResponse<Problem>(ask)))),
      );
      expect(theirs).toEqual(none);
      expect(theirs!.map(({ status, body }) => [status, body.code])).toEqual(
        theirs!.map(() => [404, 'BLOCK_NOT_FOUND']),
      );
      expect((await checkBlock(unrelatedUser, { ids: [id, 'unknown'] })).body.blocks).toEqual(
        [id, 'unknown'].map((of) => ({ id: of, state: 'not_found', runs: false })),
      );
    }
    expect(await list(ada)).toMatchObject([{ title: 'Mine', version: 1 }]);
  });

  test('each bit opens its own door and no other', async () => {
    const { users } = await begin(['Ada', 'Bob', { name: 'Root', role: 'ADMIN' }]);
    const [ada, bob, root] = users;
    const { id } = await saveBlock(ada, { server: 'post', tool: 'send' });
    const readError = async (answer: Promise<Response>) => {
      const { status, body } = await readResponse<Problem>(answer);
      return status < 300 ? status : body.code;
    };
    const tries = async (who: TestUser) => [
      await readError(who.post(`${at(id)}/run`, { inputs: { to: 'x', count: 1 } })),
      await readError(who.send('PATCH', at(id), { title: `By ${who.id}` })),
      await readError(who.get(`/api/permissions/block/${id}`)),
    ];
    await shareBlock(ada, id, [bob]);
    expect(await tries(bob)).toEqual([200, 'BLOCK_FORBIDDEN', 'BLOCK_FORBIDDEN']);
    expect(await readError(bob.send('DELETE', at(id)))).toBe('BLOCK_FORBIDDEN');
    await shareBlock(ada, id, [bob], 'mcpServer_editor');
    expect(await tries(bob)).toEqual([200, 200, 'BLOCK_FORBIDDEN']);
    expect(await readError(bob.send('DELETE', at(id)))).toBe('BLOCK_FORBIDDEN');
    await shareBlock(ada, id, [bob], 'mcpServer_owner');
    expect(await tries(bob)).toEqual([200, 200, 200]);
    // The last owner stays, and a taken right is gone.
    const removed = [bob, ada].map((user) => ({ type: 'user', id: user.id }));
    const take = (of: object[]) =>
      readError(ada.send('PUT', `/api/permissions/block/${id}`, { removed: of, public: false }));
    expect(await take(removed)).toBe('REQUEST_INVALID');
    expect(await take([removed[0]!])).toBe(200);
    expect(await readError(bob.get(at(id)))).toBe('BLOCK_NOT_FOUND');
    // An administrator has what is shared with them, and may take it away.
    await shareBlock(ada, id, [root]);
    expect(await tries(root)).toEqual([200, 'BLOCK_FORBIDDEN', 'BLOCK_FORBIDDEN']);
    expect(await readError(root.send('DELETE', at(id)))).toBe(204);
    expect(await list(ada)).toEqual([]);
  });

  test('the id of a block opens no server, and the other way', async () => {
    const { users, server } = await begin();
    const [ada, bob] = users;
    const config = { type: 'streamable-http', url: server.url, title: 'Mine' };
    const made = await readResponse<{ serverName: string; dbId: string }>(
      ada.post('/api/mcp/servers', { config }),
    );
    const { serverName, dbId } = made.body;
    const { id } = await saveBlock(ada, { server: serverName, tool: 'send', title: 'Ours' });
    await shareBlock(ada, id, [bob]);
    const { status, body } = await runBlock(bob, id, { inputs: { to: 'x', count: 1 } });
    expect([status, body.code]).toEqual([403, 'BLOCK_SERVER_FORBIDDEN']);
    expect(body.detail).toContain(`"${serverName}"`);
    expect((await readResponse(bob.get(at(id)))).body).toMatchObject({
      title: 'Ours',
      server: { name: serverName, state: 'no_access' },
    });
    expect((await checkBlock(bob, { ids: [id] })).body.blocks).toMatchObject([
      { state: 'no_access', runs: false },
    ]);
    expect((await bob.get(`/api/mcp/servers/${serverName}`)).status).toBe(404);
    for (const path of [
      `/api/permissions/block/${dbId}`,
      `/api/permissions/mcpServer/${id}`,
      `/api/permissions/mcpServer/${encodeURIComponent(`block/${id}`)}`,
      at(dbId),
    ]) {
      expect([path, (await ada.get(path)).status]).toEqual([path, 404]);
    }
    expect(server.received('tools/call')).toEqual([]);
    // Who is given the server as well runs it.
    const updated = [{ type: 'user', id: bob.id, accessRoleId: 'mcpServer_viewer' }];
    await ada.send('PUT', `/api/permissions/mcpServer/${dbId}`, { updated, public: false });
    expect(await runBlock(bob, id, { inputs: { to: 'x', count: 1 } })).toMatchObject({ status: 200 });
  });

  test('a server made anew under the same name is not the old one: the block says that it is gone', async () => {
    const { users, server } = await begin();
    const [ada] = users;
    const define = async () => {
      const config = { type: 'streamable-http', url: server.url, title: 'Mine' };
      return (await readResponse<{ serverName: string }>(ada.post('/api/mcp/servers', { config }))).body
        .serverName;
    };
    const name = await define();
    const { id } = await saveBlock(ada, { server: name, tool: 'send', title: 'Kept' });
    const inputs = { to: 'x', count: 1 };
    expect((await runBlock(ada, id, { inputs })).status).toBe(200);
    expect((await ada.send('DELETE', `/api/mcp/servers/${name}`)).status).toBe(200);
    const expectNotFound = async () => {
      const { status, body } = await runBlock(ada, id, { inputs });
      expect([status, body.code]).toEqual([410, 'BLOCK_SERVER_GONE']);
      expect(body.detail).toContain(`"${name}"`);
      expect((await readResponse(ada.get(at(id)))).body).toMatchObject({
        title: 'Kept',
        server: { name, state: 'gone' },
      });
      const checked = (await checkBlock(ada, { ids: [id], inputs: { [id]: inputs } })).body;
      expect(checked).toMatchObject({ runs: false, blocks: [{ state: 'server_gone', runs: false }] });
    };
    await expectNotFound();
    expect(await define()).toBe(name);
    expect(await ada.call(name, 'send', inputs)).toMatchObject({ status: 200 });
    await expectNotFound();
    expect(server.received('tools/call')).toHaveLength(2);
    // It can still be renamed and thrown away.
    expect((await ada.send('PATCH', at(id), { title: 'Old' })).status).toBe(200);
    expect((await ada.send('PATCH', at(id), { inputs: {} })).status).toBe(410);
    expect((await ada.send('DELETE', at(id))).status).toBe(204);
  });

  test('of two who change one version, the second is told', async () => {
    const { users } = await begin();
    const [ada] = users;
    const { id } = await saveBlock(ada, { server: 'post', tool: 'send', inputs: { to: fixed('bob') } });
    const change = async (body: object, tag?: string) => {
      const headers = tag === undefined ? {} : { 'if-match': tag };
      const response = await ada.send('PATCH', at(id), body, headers);
      return [response.status, response.headers.get('etag'), ((await response.json()) as Problem).code];
    };
    expect(await change({ title: 'One' }, '"1"')).toEqual([200, '"2"', undefined]);
    expect(await change({ title: 'Two' }, '"1"')).toEqual([412, null, 'VERSION_CONFLICT']);
    expect(await change({ description: 'More' })).toEqual([200, '"3"', undefined]);
    expect(await change({ description: 'More' })).toEqual([200, '"3"', undefined]);
    expect(await change({ description: null, inputs: {} }, 'W/"3"')).toEqual([200, '"4"', undefined]);
    expect((await ada.send('DELETE', at(id), undefined, { 'if-match': '"3"' })).status).toBe(412);
    const view = (await readResponse<BlockView>(ada.get(at(id)))).body;
    expect(view).toMatchObject({ title: 'One', inputs: {}, version: 4 });
    expect(view).not.toHaveProperty('description');
    expect((await change({}))[0]).toBe(400);
    expect((await change({ server: 'other' }))[0]).toBe(400);
  });

  test('making, changing, sharing, running and removing are written down', async () => {
    const { users } = await begin(['Ada', 'Bob', { name: 'Root', role: 'ADMIN' }]);
    const [ada, bob, root] = users;
    const { id } = await saveBlock(ada, { server: 'post', tool: 'send', inputs: { to: fixed('pl4nted') } });
    await ada.send('PATCH', at(id), { title: 'pl4nted' });
    await shareBlock(ada, id, [bob]);
    await runBlock(bob, id, { inputs: { count: 1 } });
    await runBlock(bob, id, {});
    await bob.send('DELETE', at(id));
    await ada.send('DELETE', at(id));
    const events = await eventually('all of it is written', async () => {
      const { body } = await readResponse<{ events: Record<string, unknown>[] }>(
        root.get('/api/admin/audit?limit=100'),
      );
      const of = body.events.filter(({ subject }) => subject === id).reverse();
      return of.length >= 7 && of;
    });
    expect(events.map(({ action, outcome, code, server }) => [action, outcome, code, server])).toEqual([
      ['block.create', 'ok', undefined, 'post'],
      ['block.change', 'ok', undefined, 'post'],
      ['block.share', 'ok', undefined, undefined],
      ['tool.call', 'ok', undefined, 'post'],
      ['tool.call', 'refused', 'BLOCK_INCOMPLETE', 'post'],
      ['block.delete', 'refused', 'BLOCK_FORBIDDEN', undefined],
      ['block.delete', 'ok', undefined, 'post'],
    ]);
    expect(events[3]).toMatchObject({ tool: 'send', arguments: ['to', 'count'], actor: { id: bob.id } });
    expect(JSON.stringify(events)).not.toContain('pl4nted');
  });
});
