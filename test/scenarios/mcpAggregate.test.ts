import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createPausedClock } from './pausedClock.ts';
import { createLegacyClient, sendModern, createWireClient, type WireClient } from './mcpClient.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

/** What the gateway promises, whatever hangs. */
const LIST_BOUND_MS = 5_000;

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });
const named = (name: string) => ({ name, handler: () => text(name) });

interface Listed {
  names: string[];
  meta: { 'behalf/servers'?: { server: string; state: string; code: string; connectUrl?: string }[] };
  nextCursor: string | undefined;
}

async function list(client: WireClient, method = 'tools/list', params: object = {}): Promise<Listed> {
  const { message } = await sendModern(client, method, { ...params });
  const result = message.result as Record<string, unknown>;
  const [member] = Object.keys(result).filter((key) => Array.isArray(result[key])) as [string];
  return {
    names: (result[member] as { name: string; uri?: string }[]).map(({ name, uri }) => uri ?? name),
    meta: result['_meta'] as Listed['meta'],
    nextCursor: result['nextCursor'] as string | undefined,
  };
}

async function say(client: WireClient, name: string) {
  const { message } = await sendModern(client, 'tools/call', { name });
  const content = message.result?.['content'] as [{ text: string }] | undefined;
  return content?.[0].text ?? message.error?.data?.['code'];
}

describe('all servers of a user at one MCP endpoint', () => {
  const rig = createGatewayRig();

  test('and a call reaches the tool under its own name', async () => {
    const long = 'z'.repeat(80);
    const one = await rig.startServer({
      era: 'legacy',
      tools: ['echo', 'a.b', 'a_b', long, '_x'].map(named),
    });
    const two = await rig.startServer({ era: 'modern', tools: ['echo', 'Ünïcode'].map(named) });
    const [ada] = (await rig.start(
      renderYaml({
        files: httpDefinition(one.url),
        'my files': httpDefinition(two.url),
        'files-and-many-more-things-of-ours': httpDefinition(two.url),
      }),
    )) as [TestUser];
    const client = await createWireClient(ada, rig.gateway.url);
    const { names } = await list(client);
    expect(names).toHaveLength(9);
    expect(new Set(names).size).toBe(9);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(names.filter((name) => name.startsWith('files__'))).toEqual([
      'files__echo',
      expect.stringMatching(/^files__a_b_[0-9a-f]{8}$/),
      'files__a_b',
      expect.stringMatching(/^files__z{48}_[0-9a-f]{8}$/),
      'files___x',
    ]);
    expect(names).toContainEqual(expect.stringMatching(/^my-files-[0-9a-f]{8}__echo$/));
    const said = await Promise.all(names.map((name) => say(client, name)));
    expect(said.sort()).toEqual(
      ['Ünïcode', 'Ünïcode', '_x', 'a.b', 'a_b', long, 'echo', 'echo', 'echo'].sort(),
    );
    for (const wrong of [
      'echo',
      'files__',
      'files__nothing',
      'my files__echo',
      'other__echo',
      '__echo',
      long,
    ]) {
      expect([wrong, await say(client, wrong)]).toEqual([wrong, 'MCP_TOOL_NOT_FOUND']);
    }
  });

  test('whichever servers are there, answer or come first', async () => {
    const one = await rig.startServer({ era: 'legacy', tools: ['echo', 'b'].map(named) });
    const two = await rig.startServer({ era: 'legacy', tools: ['echo', 'b'].map(named) });
    const single = renderYaml({ 'a b': httpDefinition(one.url) });
    const [ada] = (await rig.start(single)) as [TestUser];
    const before = await list(await createWireClient(ada, rig.gateway.url));
    const [bob] = (await rig.start(
      renderYaml({
        'a-b': httpDefinition(two.url),
        ab: httpDefinition(two.url),
        'a b': httpDefinition(one.url),
      }),
    )) as [TestUser];
    const client = await createWireClient(bob, rig.gateway.url);
    const after = await list(client);
    expect(after.names).toEqual(expect.arrayContaining(before.names));
    expect((await list(client)).names).toEqual(after.names);
  });

  test('prompts are named and found as tools are', async () => {
    const methods = (mark: string) => ({
      'prompts/list': () => ({ prompts: [{ name: 'greet' }, { name: 'a b' }] }),
      'prompts/get': ({ name }: { name?: unknown }) => ({
        messages: [],
        description: `${mark} ${String(name)}`,
      }),
    });
    const capabilities = { tools: {}, prompts: {} };
    const one = await rig.startServer({ era: 'legacy', capabilities, methods: methods('one') });
    const two = await rig.startServer({ era: 'modern', capabilities, methods: methods('two') });
    const [ada] = (await rig.start(
      renderYaml({ one: httpDefinition(one.url), two: httpDefinition(two.url) }),
    )) as [TestUser];
    const client = await createWireClient(ada, rig.gateway.url);
    const { names } = await list(client, 'prompts/list');
    expect(names).toEqual([
      'one__greet',
      expect.stringMatching(/^one__a_b_/),
      'two__greet',
      expect.stringMatching(/^two__a_b_/),
    ]);
    const got = await Promise.all(
      names.map(
        async (name) => (await sendModern(client, 'prompts/get', { name })).message.result?.['description'],
      ),
    );
    expect(got).toEqual(['one greet', 'one a b', 'two greet', 'two a b']);
    for (const name of ['greet', 'one__nothing', 'three__greet']) {
      const { message } = await sendModern(client, 'prompts/get', { name });
      expect([name, message.error?.code]).toEqual([name, -32602]);
    }
  });

  test('and one that two have says whose it is', async () => {
    const methods = (mark: string, uris: string[]) => ({
      'resources/list': () => ({ resources: uris.map((uri) => ({ uri, name: uri })) }),
      'resources/templates/list': () => ({
        resourceTemplates: [{ uriTemplate: `${mark}://{id}`, name: 't' }],
      }),
      'resources/read': ({ uri }: { uri?: unknown }) => ({
        contents: [{ uri: String(uri), text: `${mark} ${String(uri)}` }],
      }),
    });
    const capabilities = { tools: {}, resources: {} };
    const one = await rig.startServer({
      era: 'legacy',
      capabilities,
      methods: methods('one', ['x:own', 'x:both', 'ui://app']),
    });
    const two = await rig.startServer({
      era: 'modern',
      capabilities,
      methods: methods('two', ['x:both', 'ui://app']),
    });
    const [ada] = (await rig.start(
      renderYaml({ one: httpDefinition(one.url), two: httpDefinition(two.url) }),
    )) as [TestUser];
    const client = await createWireClient(ada, rig.gateway.url);
    expect((await list(client, 'resources/list')).names).toEqual([
      'x:own',
      'behalf:one/x:both',
      'ui://app',
      'behalf:two/x:both',
      'ui://app',
    ]);
    const read = async (uri: string) => {
      const { message } = await sendModern(client, 'resources/read', { uri });
      return (
        (message.result?.['contents'] as [{ text: string }] | undefined)?.[0].text ?? message.error?.code
      );
    };
    expect(await read('x:own')).toBe('one x:own');
    expect(await read('behalf:one/x:both')).toBe('one x:both');
    expect(await read('behalf:two/x:both')).toBe('two x:both');
    expect(await read('two://17')).toBe('two two://17');
    // By another way than its bare address an app is read whoever else has one like it.
    expect([await read('behalf:one/ui://app'), await read('behalf:two/ui://app')]).toEqual([
      'one ui://app',
      'two ui://app',
    ]);
    const { message: several } = await sendModern(client, 'resources/read', { uri: 'ui://app' });
    expect(several.error?.message).toContain('behalf:<server>/ui://app');
    for (const unknownUri of ['x:both', 'ui://app', 'x:nothing', 'behalf:three/x:own', 'behalf:one/'])
      expect([unknownUri, await read(unknownUri)]).toEqual([unknownUri, -32602]);
    const legacy = await createLegacyClient(client);
    expect((await legacy.request('resources/read', { uri: 'x:both' })).message.error?.code).toBe(-32002);
  });

  test('also one that no list has, and never one that another names', async () => {
    const app = (uri: string, name: string) => ({
      ...{ name, inputSchema: { type: 'object' }, _meta: { ui: { resourceUri: uri } } },
    });
    const serving = (mark: string, uris: string[], tools: object[]) => ({
      'tools/list': () => ({ tools }),
      'resources/list': () => ({ resources: uris.map((uri) => ({ uri, name: uri })) }),
      'resources/templates/list': () => ({ resourceTemplates: [] }),
      'resources/read': ({ uri }: { uri?: unknown }) => ({
        contents: [{ uri, text: `${mark} ${String(uri)}` }],
      }),
    });
    const capabilities = { tools: {}, resources: {} };
    const one = await rig.startServer({
      ...{ era: 'legacy', capabilities },
      methods: serving('one', [], [app('ui://clock', 'clock'), app('ui://both', 'both')]),
    });
    const two = await rig.startServer({
      ...{ era: 'legacy', capabilities },
      methods: serving(
        'two',
        ['ui://both'],
        [{ ...app('', 'old'), _meta: { 'ui/resourceUri': 'ui://old' } }],
      ),
    });
    const [ada] = (await rig.start(
      renderYaml({ one: httpDefinition(one.url), two: httpDefinition(two.url) }),
    )) as [TestUser];
    const client = await createWireClient(ada, rig.gateway.url);
    const read = async (uri: string) => {
      const { message } = await sendModern(client, 'resources/read', { uri });
      return (
        (message.result?.['contents'] as [{ text: string }] | undefined)?.[0].text ?? message.error?.code
      );
    };
    expect([await read('ui://clock'), await read('ui://old')]).toEqual(['one ui://clock', 'two ui://old']);
    expect([await read('ui://both'), await read('ui://nothing')]).toEqual([-32602, -32602]);
    expect(await read('behalf:one/ui://both')).toBe('one ui://both');
  });

  test('by role, by rule and by who owns what', async () => {
    const upstream = await rig.startServer({ era: 'legacy', tools: ['echo', 'erase'].map(named) });
    const [ada, bob] = (await rig.start(
      renderYaml({
        open: httpDefinition(upstream.url, { tools: { exclude: ['erase'] } }),
        admins: httpDefinition(upstream.url, { access: { roles: ['ADMIN'] } }),
      }),
      [{ name: 'Ada', role: 'ADMIN' }, 'Bob'],
    )) as [TestUser, TestUser];
    const [adas, bobs] = [
      await createWireClient(ada, rig.gateway.url),
      await createWireClient(bob, rig.gateway.url),
    ];
    expect((await list(adas)).names).toEqual(['admins__echo', 'admins__erase', 'open__echo']);
    const seen = await list(bobs);
    expect(seen.names).toEqual(['open__echo']);
    expect(JSON.stringify(seen)).not.toContain('admins');
  });

  test('tools, servers and endpoints', async () => {
    const upstream = await rig.startServer({ era: 'legacy', tools: ['echo', 'erase'].map(named) });
    const [bob] = (await rig.start(
      renderYaml({
        open: httpDefinition(upstream.url, { tools: { exclude: ['erase'] } }),
        admins: httpDefinition(upstream.url, { access: { roles: ['ADMIN'] } }),
      }),
      ['Bob'],
    )) as [TestUser];
    const client = await createWireClient(bob, rig.gateway.url);
    expect(await say(client, 'open__echo')).toBe('echo');
    const refusals = await Promise.all(
      ['admins__echo', 'nobody__echo', 'open__erase', 'open__nothing'].map(async (name) => {
        const { status, message } = await sendModern(client, 'tools/call', { name });
        return [status, message.error];
      }),
    );
    expect(new Set(refusals.map((refusal) => JSON.stringify(refusal))).size).toBe(1);
    expect(refusals[0]).toMatchObject([200, { code: -31404, data: { code: 'MCP_TOOL_NOT_FOUND' } }]);
    const endpoints = await Promise.all(
      ['admins', 'nobody'].map(async (name) => {
        const one = { ...client, ...(await createWireClient(bob, rig.gateway.url, `/mcp/${name}`)) };
        const { status, message } = await sendModern(one, 'tools/list');
        return JSON.stringify([status, message.error]);
      }),
    );
    expect(endpoints[0]).toBe(endpoints[1]);
    expect(endpoints[0]).toContain('[404,');
  });

  test('one of ten, in both eras, and what is left is whole', async () => {
    const fine = await Promise.all(
      Array.from({ length: 9 }, (_, index) =>
        rig.startServer({ era: 'legacy', tools: [named(`t${index}`)] }),
      ),
    );
    const hanging = await rig.startServer({ era: 'legacy', respond: () => 'hang' });
    const [ada, bob] = (await rig.start(
      renderYaml({
        hanging: httpDefinition(hanging.url),
        ...Object.fromEntries(fine.map(({ url }, index) => [`fine${index}`, httpDefinition(url)])),
        signed: httpDefinition(fine[0]!.url, { requiresOAuth: true, access: { roles: ['ADMIN'] } }),
      }),
      [{ name: 'Ada', role: 'ADMIN' }, 'Bob'],
    )) as [TestUser, TestUser];
    const [adas, bobs] = [
      await createWireClient(ada, rig.gateway.url),
      await createWireClient(bob, rig.gateway.url),
    ];
    const legacy = await createLegacyClient(bobs);
    // It never answers: whoever is answered was not made to wait for it.
    const [toBob, before, toAda] = await Promise.all([list(bobs), legacy.request('tools/list'), list(adas)]);
    const names = fine.map((_, index) => `fine${index}__t${index}`);
    const unreachable = { server: 'hanging', state: 'unreachable', code: 'MCP_TIMEOUT' };
    expect(hanging.requests.length).toBeGreaterThan(0);
    expect(toBob.names).toEqual(names);
    expect(toBob.meta['behalf/servers']).toEqual([unreachable]);
    expect(before.message.result).toMatchObject({
      tools: names.map((name) => ({ name })),
      _meta: { 'behalf/servers': [unreachable] },
    });
    expect(toAda.names).toEqual(names);
    expect(toAda.meta['behalf/servers']).toEqual([
      unreachable,
      {
        ...{ server: 'signed', state: 'needs_authorization', code: 'MCP_AUTHORIZATION_REQUIRED' },
        connectUrl: expect.stringMatching(/^http:\/\/.*\/servers\/signed$/) as unknown,
      },
    ]);
    expect(await Promise.all(names.map((name) => say(bobs, name)))).toEqual(
      fine.map((_, index) => `t${index}`),
    );
  });

  test('each kind of list, in both eras, with one of ten that hangs', async () => {
    const fine = await Promise.all(
      Array.from({ length: 9 }, (_, index) =>
        rig.startServer({ era: 'legacy', tools: [named(`t${index}`)] }),
      ),
    );
    const hanging = await rig.startServer({ era: 'legacy', respond: () => 'hang' });
    const servers = { hanging, ...Object.fromEntries(fine.map((server, index) => [`fine${index}`, server])) };
    const clock = createPausedClock();
    const [ada] = (await rig.start(
      renderYaml(
        Object.fromEntries(Object.entries(servers).map(([name, { url }]) => [name, httpDefinition(url)])),
      ),
      ['Ada'],
      clock,
    )) as [TestUser];
    const client = await createWireClient(ada, rig.gateway.url);
    const legacy = await createLegacyClient(client);
    const kinds = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];
    const others = clock.countTimers(LIST_BOUND_MS);
    for (const request of kinds.flatMap((kind) => [
      () => sendModern(client, kind),
      () => legacy.request(kind),
    ])) {
      const running = request();
      // Not for one of the nine any more.
      await eventually('it waits for the one', () => clock.countTimers(LIST_BOUND_MS) === others + 1);
      clock.advance(LIST_BOUND_MS);
      expect((await running).message.result?.['_meta']).toMatchObject({
        'behalf/servers': [{ server: 'hanging', state: 'unreachable', code: 'MCP_TIMEOUT' }],
      });
    }
  });

  test('for nobody else, and for no other list', async () => {
    const tools = Array.from({ length: 501 }, (_, index) => ({ name: `t${index}` }));
    const upstream = await rig.startServer({ era: 'legacy', tools });
    const [ada, bob] = (await rig.start(renderYaml({ files: httpDefinition(upstream.url) }), [
      'Ada',
      'Bob',
    ])) as [TestUser, TestUser];
    const client = await createWireClient(ada, rig.gateway.url);
    const first = await list(client);
    expect(first.names).toHaveLength(500);
    const cursor = first.nextCursor;
    expect((await list(client, 'tools/list', { cursor })).names).toEqual(['files__t500']);
    const refusal = async (by: WireClient, method: string, wrong: unknown) =>
      (await sendModern(by, method, { cursor: wrong })).message.error?.code;
    const bobs = await createWireClient(bob, rig.gateway.url);
    expect(await refusal(bobs, 'tools/list', cursor)).toBe(-32602);
    expect(
      await refusal(await createWireClient(ada, rig.gateway.url, '/mcp/files'), 'tools/list', cursor),
    ).toBe(-32602);
    expect(await list(client, 'tools/list', { cursor: '' })).toMatchObject({ names: first.names });
    for (const wrong of ['x', 5, null]) expect(await refusal(client, 'tools/list', wrong)).toBe(-32602);
    expect(await refusal(client, 'prompts/list', cursor)).toBe(-32602);
  });
});
