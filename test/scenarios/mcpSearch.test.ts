import { largeCatalog, evaluationQueries } from '@behalf/testkit/catalog';
import { Ajv } from 'ajv';
import { describe, expect, test } from '@jest/globals';
import { createLegacyClient, sendModern, createWireClient, type WireClient } from './mcpClient.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import {
  createLegacySend,
  createModernSend,
  searchTools,
  callThroughSearch,
  type JsonObject,
  type SendMcp,
} from './searchClient.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const AT = '/mcp?tools=search';
const text = (value: string) => ({ content: [{ type: 'text', text: value }] });
const tool = (name: string, description: string) => ({ name, description, handler: () => text(name) });
const listed = async (send: SendMcp) =>
  ((await send('tools/list')).result?.['tools'] as { name: string }[]) ?? [];

describe('an MCP endpoint with a search', () => {
  const rig = createGatewayRig();
  const clientOf = (user: TestUser, path = AT): Promise<WireClient> =>
    createWireClient(user, rig.gateway.url, path);
  /** The same client in both eras. */
  async function bothEras(user: TestUser, path = AT): Promise<SendMcp[]> {
    const client = await clientOf(user, path);
    return [createModernSend(client), createLegacySend(await createLegacyClient(client))];
  }

  test('at all servers and at one, and nobody else', async () => {
    const upstream = await rig.startServer({ era: 'legacy', tools: [tool('echo', 'Repeats a text.')] });
    const [ada] = (await rig.start(renderYaml({ files: httpDefinition(upstream.url) }))) as [TestUser];
    for (const path of [AT, '/mcp/files?tools=search', '/mcp?x=1&tools=search']) {
      for (const send of await bothEras(ada, path)) {
        const tools = (await listed(send)) as unknown as JsonObject[];
        expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'call_tool']);
        expect(tools[0]).toMatchObject({
          annotations: { readOnlyHint: true },
          outputSchema: { type: 'object' },
        });
        expect(tools[1]).toMatchObject({ annotations: { readOnlyHint: false, destructiveHint: true } });
      }
    }
    expect(upstream.received('tools/list').length).toBeLessThanOrEqual(1);
    for (const path of ['/mcp', '/mcp?x=search'])
      for (const send of await bothEras(ada, path))
        expect((await listed(send)).map(({ name }) => name)).toEqual(['files__echo']);
    for (const path of [
      '/mcp?tools=',
      '/mcp?tools=all',
      '/mcp?tools=SEARCH',
      '/mcp/files?tools=x',
      `${AT}&tools=search`,
    ]) {
      const client = await clientOf(ada, path);
      for (const method of ['POST', 'GET', 'DELETE']) {
        const answer = method === 'POST' ? await client.post({}) : await client.send(method);
        expect([path, method, answer.status]).toEqual([path, method, 400]);
        const { error } = (await answer.json()) as { error: { message: string; data: JsonObject } };
        expect(error.data).toEqual({ code: 'REQUEST_INVALID' });
        expect(error.message).toContain('"search"');
      }
    }
    // Without it, the two are no tools.
    const plain = await clientOf(ada, '/mcp');
    for (const name of ['search_tools', 'call_tool']) {
      const { message } = await sendModern(plain, 'tools/call', { name, arguments: { query: 'x' } });
      expect(message.error?.data?.['code']).toBe('MCP_TOOL_NOT_FOUND');
    }
    expect((await fetch(new URL(AT, rig.gateway.url), { method: 'POST', body: '{}' })).status).toBe(401);
  });

  test('sessions of one are not known at the other', async () => {
    const upstream = await rig.startServer({ era: 'legacy', tools: [tool('echo', 'Repeats a text.')] });
    const [ada] = (await rig.start(renderYaml({ files: httpDefinition(upstream.url) }))) as [TestUser];
    for (const [here, there] of [
      [AT, '/mcp'],
      ['/mcp', AT],
      ['/mcp/files?tools=search', '/mcp/files'],
      [AT, '/mcp/files?tools=search'],
    ]) {
      const legacy = await createLegacyClient(await clientOf(ada, here));
      const other = await clientOf(ada, there);
      const headers = { 'mcp-session-id': legacy.session };
      const statuses = [
        await other.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers),
        await other.send('GET', headers),
        await other.send('DELETE', headers),
        await legacy.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      ].map(({ status }) => status);
      expect([here, there, statuses]).toEqual([here, there, [404, 404, 404, 200]]);
    }
  });

  test('over sixteen servers, in a few kilobytes', async () => {
    const servers: Record<string, object> = {};
    for (const [index, { name, tools }] of largeCatalog().entries()) {
      const era = index % 2 === 0 ? 'legacy' : 'modern';
      servers[name] = httpDefinition((await rig.startServer({ era, tools: tools })).url);
    }
    const [ada] = (await rig.start(renderYaml(servers))) as [TestUser];
    const [modern, legacy] = (await bothEras(ada)) as [SendMcp, SendMcp];
    const missed: string[] = [];
    let answers = 0;
    for (const { requestText, server, tool: wanted } of evaluationQueries) {
      const { names, result, searched } = await searchTools(modern, requestText);
      expect(searched).toBe(1_000);
      expect(names.length).toBeLessThanOrEqual(5);
      if (!names.includes(`${server}__${wanted}`)) missed.push(requestText);
      answers += JSON.stringify(result).length;
      expect((await searchTools(legacy, requestText)).names).toEqual(names);
    }
    expect(missed).toEqual([]);
    const plain = createModernSend(await clientOf(ada, '/mcp'));
    let whole = 0;
    let cursor: unknown;
    do {
      const { result = {} } = await plain('tools/list', cursor === undefined ? {} : { cursor });
      whole += JSON.stringify(result).length;
      cursor = result['nextCursor'];
    } while (cursor !== undefined);
    const two = JSON.stringify((await modern('tools/list')).result).length;
    // The whole list is hundreds of kilobytes; two tools and a search are a fiftieth of it.
    expect(whole).toBeGreaterThan(250_000);
    expect(two).toBeLessThan(4_000);
    expect(two + answers / evaluationQueries.length).toBeLessThan(whole / 20);
  });

  test('as the schema says, and as text', async () => {
    const huge = 'x'.repeat(200_000);
    const inputSchema = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] };
    const upstream = await rig.startServer({
      era: 'modern',
      tools: [
        {
          ...tool('send_mail', 'Sends a mail.'),
          title: 'Mail',
          inputSchema,
          annotations: { openWorldHint: true },
        },
        { ...tool('send_letter', `Sends a letter. ${'y'.repeat(9_000)}`) },
        { ...tool('send_book', 'Sends a book.'), inputSchema: { ...inputSchema, description: huge } },
      ],
    });
    const [ada] = (await rig.start(
      renderYaml({ post: httpDefinition(upstream.url), other: httpDefinition(upstream.url) }),
    )) as [TestUser];
    for (const send of await bothEras(ada)) {
      const [{ outputSchema } = {}] = (await listed(send)) as { outputSchema?: object }[];
      const { result, hits, searched } = await searchTools(send, 'send a mail', { server: 'post' });
      expect(new Ajv({ strict: false }).validate(outputSchema ?? {}, result['structuredContent'])).toBe(true);
      const [{ text: said }] = result['content'] as [{ text: string }];
      expect(JSON.parse(said)).toEqual(result['structuredContent']);
      expect([searched, hits[0]]).toEqual([
        3,
        {
          ...{ name: 'post__send_mail', server: 'post', title: 'Mail', description: 'Sends a mail.' },
          ...{ inputSchema, annotations: { openWorldHint: true } },
        },
      ]);
      // None takes the room of another, and each can be seen whole.
      const three = await searchTools(send, 'send', { server: 'post' });
      expect(three.hits.find(({ name }) => name === 'post__send_book')).toMatchObject({
        shortened: true,
        inputSchema: { type: 'object' },
      });
      expect(three.hits.find(({ name }) => name === 'post__send_letter')?.description).toHaveLength(4_000);
      expect(JSON.stringify(three.result).length).toBeLessThan(50_000);
      const whole = await searchTools(send, 'book', { limit: 1, server: 'post' });
      expect(whole.hits[0]?.inputSchema['description']).toBe(huge);
      expect((await searchTools(send, 'send')).names).toHaveLength(5);
      expect((await searchTools(send, 'send', { limit: 20 })).names).toHaveLength(6);
      for (const args of [
        {},
        { query: '' },
        { query: 'x'.repeat(501) },
        { query: 'x', limit: 0 },
        { query: 'x', limit: 21 },
        { query: 'x', limit: 1.5 },
        { query: 5 },
        { query: 'x', servers: 'y' },
      ]) {
        const { result: failed } = await send('tools/call', { name: 'search_tools', arguments: args });
        expect([args, failed]).toMatchObject([
          args,
          { isError: true, _meta: { 'behalf/error': { code: 'MCP_ARGUMENTS_INVALID' } } },
        ]);
      }
    }
  });

  const roles = { access: { roles: ['ADMIN'] } };

  test('by role, by rule and by filter, in both eras', async () => {
    const upstream = await rig.startServer({
      era: 'legacy',
      tools: [
        tool('read_file', 'Reads a file.'),
        tool('erase_file', 'Erases a file.'),
        tool('burn_file', 'Burns a file.'),
      ],
    });
    const [ada, bob] = (await rig.start(
      renderYaml(
        {
          open: httpDefinition(upstream.url, { tools: { exclude: ['burn_file'] } }),
          secret: httpDefinition(upstream.url, roles),
        },
        { endpoints: { agents: { toolApproval: { deny: ['mcp:open:erase*'] } } } },
      ),
      [{ name: 'Ada', role: 'ADMIN' }, 'Bob'],
    )) as [TestUser, TestUser];
    const [adas] = (await bothEras(ada)) as [SendMcp];
    expect((await searchTools(adas, 'a file')).names).toEqual([
      'open__read_file',
      ...['burn', 'erase', 'read'].map((verb) => `secret__${verb}_file`),
    ]);
    for (const send of await bothEras(bob)) {
      const seen = await searchTools(send, 'burn, erase or read a secret file', { limit: 20 });
      expect([seen.names, seen.searched]).toEqual([['open__read_file'], 1]);
      const others = await Promise.all(
        ['secret', 'nobody'].map(async (server) => (await searchTools(send, 'file', { server })).result),
      );
      expect(others[0]).toEqual(others[1]);
      const plain = createModernSend(await clientOf(bob, '/mcp'));
      expect(seen.names).toEqual((await listed(plain)).map(({ name }) => name));
      const refused = await Promise.all(
        [
          'secret__read_file',
          'nobody__read_file',
          'open__erase_file',
          'open__burn_file',
          'open__nothing',
          '',
        ].map(async (name) => JSON.stringify((await send('tools/call', callThroughSearch(name))).result)),
      );
      expect(new Set(refused).size).toBe(1);
      expect(refused[0]).toContain('MCP_TOOL_NOT_FOUND');
    }
    expect(upstream.received('tools/call')).toEqual([]);
    const one = await clientOf(bob, '/mcp/secret?tools=search');
    expect((await sendModern(one, 'tools/list')).status).toBe(404);
  });

  test('and what is there is found', async () => {
    const upstream = await rig.startServer({ era: 'legacy', tools: [tool('echo', 'Repeats a text.')] });
    const away = await rig.startServer({ era: 'legacy', respond: () => ({ status: 503 }) });
    const [ada] = (await rig.start(
      renderYaml({
        open: httpDefinition(upstream.url),
        away: httpDefinition(away.url),
        signed: httpDefinition(upstream.url, { requiresOAuth: true }),
      }),
    )) as [TestUser];
    for (const send of await bothEras(ada)) {
      const { names, result } = await searchTools(send, 'repeat something');
      expect(names).toEqual(['open__echo']);
      const notices = [
        { server: 'away', state: 'unreachable' },
        {
          server: 'signed',
          state: 'needs_authorization',
          connectUrl: expect.stringContaining('/servers/signed') as unknown,
        },
      ];
      expect(result['_meta']).toMatchObject({ 'behalf/servers': notices });
      expect(result['structuredContent']).toMatchObject({ unavailable: notices });
      // What is not asked is not missed.
      expect(
        (await searchTools(send, 'repeat', { server: 'open' })).result['structuredContent'],
      ).not.toHaveProperty('unavailable');
    }
  });

  test('for this caller', async () => {
    const upstream = await rig.startServer({ era: 'legacy', tools: [] });
    const open = httpDefinition(upstream.url, {
      description: 'Papers of the company.\nMore',
      serverInstructions: 'Be kind.',
    });
    const [bob] = (await rig.start(
      renderYaml({ open, plain: httpDefinition(upstream.url), secret: httpDefinition(upstream.url, roles) }),
      ['Bob'],
    )) as [TestUser];
    const client = await clientOf(bob);
    const said = [
      (await sendModern(client, 'server/discover')).message.result?.['instructions'],
      (await createLegacyClient(client)).initializeResult['instructions'],
    ];
    for (const words of said) {
      for (const word of ['search_tools', 'call_tool', '- open: Papers of the company.\n- plain', 'Be kind.'])
        expect(words).toContain(word);
      expect(words).not.toContain('secret');
      expect(words).not.toContain('More');
    }
    const { message } = await sendModern(await clientOf(bob, '/mcp'), 'server/discover');
    expect(message.result?.['instructions']).toBe('## open\nBe kind.');
  });

  test('not even where it stands under its own name', async () => {
    const upstream = await rig.startServer({
      era: 'legacy',
      tools: [tool('search_tools', 'Finds hammers.'), tool('call_tool', 'Rings a hammer.')],
    });
    const [ada] = (await rig.start(renderYaml({ search: httpDefinition(upstream.url) }))) as [TestUser];
    for (const send of await bothEras(ada, '/mcp/search?tools=search')) {
      expect((await listed(send)).map(({ name }) => name)).toEqual(['search_tools', 'call_tool']);
      expect((await searchTools(send, 'hammers')).names).toEqual(['search_tools', 'call_tool']);
      for (const name of ['search_tools', 'call_tool'])
        expect((await send('tools/call', callThroughSearch(name))).result).toMatchObject(text(name));
    }
    for (const send of await bothEras(ada)) {
      expect((await searchTools(send, 'hammers')).names).toEqual([
        'search__search_tools',
        'search__call_tool',
      ]);
      expect((await send('tools/call', callThroughSearch('search__call_tool'))).result).toMatchObject(
        text('call_tool'),
      );
      expect((await send('tools/call', callThroughSearch('call_tool'))).result).toMatchObject({
        isError: true,
      });
    }
  });
});
