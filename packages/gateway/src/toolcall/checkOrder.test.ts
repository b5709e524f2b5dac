import { describe, expect, test } from '@jest/globals';
import {
  adaUser,
  defineServer,
  captureRejection,
  rejectSignIn,
  createToolcallRig,
} from '../../test/toolcallRig.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { principalKey } from '../principal/principal.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { callTool } from './callTool.ts';
import { findServer, listAllowedServers } from '../access/allowedServer.ts';
import { ownerKey } from '../tools/catalog.ts';
import { listServer, listTools } from './list.ts';
import { readServer } from './read.ts';

const numbers = {
  name: 'add',
  inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
};
const own = (more: JsonObject = {}) =>
  defineServer('own', { headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' }, ...more });
const nothing = { obtained: 0, leases: 0, sent: 0 };

/** A rig whose list of tools is known, and whose counts begin after that. */
async function warm(servers = [own()], tools: readonly JsonObject[] = [numbers]) {
  const rig = createToolcallRig(servers, tools);
  for (const server of servers) {
    await rig.catalog.load(
      server,
      ownerKey(server, adaUser),
      async () => ({ items: tools, complete: true, era: 'legacy' }),
      { signal: rig.inbound().signal },
    );
  }
  return rig;
}

const rejectWith = (error: unknown) => {
  const { code, detail, errors, retryAfterMs } = error as GatewayError;
  return { kind: (error as Error).constructor.name, code, detail, errors, retryAfterMs };
};

describe('what is asked before anything is spent', () => {
  test('a role that may not, a server or a tool that is not there', async () => {
    const rig = await warm();
    const guest = rig.inbound({ principal: { ...adaUser, role: 'GUEST' } });
    expect(
      await captureRejection(callTool(rig.parts, { server: 'own', tool: 'add', args: { a: 1 } }, guest)),
    ).toMatchObject({
      code: 'MCP_FORBIDDEN',
    });
    for (const [server, tool] of [
      ['nowhere', 'add'],
      ['own', 'nothing'],
    ] as const) {
      const error = await captureRejection(callTool(rig.parts, { server, tool, args: {} }, rig.inbound()));
      expect(error).toMatchObject({ code: 'MCP_TOOL_NOT_FOUND' });
    }
    expect(rig.spent()).toEqual(nothing);
  });

  test('arguments that do not fit', async () => {
    const rig = await warm();
    const call = { server: 'own', tool: 'add', args: { a: 'one' } };
    expect(await captureRejection(callTool(rig.parts, call, rig.inbound()))).toMatchObject({
      code: 'MCP_ARGUMENTS_INVALID',
      errors: [{ path: 'arguments.a' }],
    });
    expect(rig.spent()).toEqual(nothing);
  });

  test('also where the user would have to sign in first', async () => {
    const rig = await warm([defineServer('own', { requiresOAuth: true })]);
    rig.credential = rejectSignIn;
    const wrong = { server: 'own', tool: 'add', args: {} };
    expect(await captureRejection(callTool(rig.parts, wrong, rig.inbound()))).toMatchObject({
      code: 'MCP_ARGUMENTS_INVALID',
    });
    expect(rig.spent()).toEqual(nothing);
    const outcome = await callTool(rig.parts, { ...wrong, args: { a: 1 } }, rig.inbound());
    expect(outcome).toMatchObject({ kind: 'auth_required', signIn: { reason: 'absent' } });
    expect(rig.spent()).toEqual({ ...nothing, obtained: 1 });
  });

  test('nothing is leased or sent without a credential', async () => {
    const rig = await warm();
    rig.credential = () => {
      throw new GatewayError('MCP_USER_VARS_MISSING');
    };
    const call = { server: 'own', tool: 'add', args: { a: 1 } };
    expect(await captureRejection(callTool(rig.parts, call, rig.inbound()))).toMatchObject({
      code: 'MCP_USER_VARS_MISSING',
    });
    expect(rig.spent()).toEqual({ ...nothing, obtained: 1 });
  });

  test('every other way to a server asks the same first', async () => {
    const rig = await warm();
    const guest = rig.inbound({ principal: { ...adaUser, role: 'GUEST' } });
    const reading = { method: 'resources/read', params: { uri: 'a:b' } } as const;
    const ways = [
      async () => listTools(rig.parts, guest),
      async () => listServer(rig.parts, 'own', 'prompts/list', guest),
      async () => readServer(rig.parts, 'own', reading, guest),
      async () => findServer(rig.parts, guest.principal, 'own'),
      async () => listAllowedServers(rig.parts, guest.principal),
    ];
    for (const way of ways) expect(await captureRejection(way())).toMatchObject({ code: 'MCP_FORBIDDEN' });
    // Also where there is nothing to be seen.
    rig.canSee = () => false;
    for (const way of ways) expect(await captureRejection(way())).toMatchObject({ code: 'MCP_FORBIDDEN' });
    expect(rig.spent()).toEqual(nothing);
  });

  test('what is hidden and what does not exist are told alike', async () => {
    const rig = await warm([own(), defineServer('hidden')]);
    rig.canSee = (_principal, { name }) => name !== 'hidden';
    const reading = { method: 'resources/read', params: { uri: 'a:b' } } as const;
    const prompt = { method: 'prompts/get', params: { name: 'p', arguments: {} } } as const;
    const { parts } = rig;
    const ways: ((server: string) => Promise<unknown>)[] = [
      (server) => callTool(parts, { server, tool: 'add', args: { a: 1 } }, rig.inbound()),
      (server) => callTool(parts, { server, tool: 'add', args: {} }, rig.inbound()),
      (server) => listServer(parts, server, 'prompts/list', rig.inbound()),
      (server) => readServer(parts, server, reading, rig.inbound()),
      (server) => readServer(parts, server, prompt, rig.inbound()),
      async (server) => findServer(parts, adaUser, server),
    ];
    for (const way of ways) {
      const [hidden, absent] = [
        rejectWith(await captureRejection(way('hidden'))),
        rejectWith(await captureRejection(way('absent'))),
      ];
      expect(hidden).toEqual(absent);
      expect(hidden.code).toMatch(/_NOT_FOUND$/);
    }
    // A tool of a server that is not there is a tool that is not there.
    const call = { server: 'own', tool: 'nothing', args: {} };
    expect(rejectWith(await captureRejection(callTool(parts, call, rig.inbound())))).toEqual(
      rejectWith(await captureRejection(ways[0]!('absent'))),
    );
    expect(rig.spent()).toEqual(nothing);
    expect(listAllowedServers(parts, adaUser).map(({ name }) => name)).toEqual(['own']);
    expect((await listTools(parts, rig.inbound())).map(({ server }) => server.name)).toEqual(['own']);
  });

  test('an old list is asked for again before a refusal', async () => {
    const rig = await warm();
    rig.tools = [{ ...numbers, inputSchema: { type: 'object' } }, { name: 'new' }];
    await rig.clock.advance(11_000);
    const changed = await callTool(
      rig.parts,
      { server: 'own', tool: 'add', args: { a: 'one' } },
      rig.inbound(),
    );
    expect(changed).toMatchObject({ kind: 'result', result: { content: [] } });
    expect([rig.lists().length, rig.calls().length]).toEqual([1, 1]);
    await rig.clock.advance(11_000);
    rig.tools = [numbers, { name: 'newest' }];
    await callTool(rig.parts, { server: 'own', tool: 'newest', args: {} }, rig.inbound());
    expect([rig.lists().length, rig.calls().length]).toEqual([2, 2]);
  });

  test('judged by the new list it is refused, and nothing is called', async () => {
    const rig = await warm();
    await rig.clock.advance(11_000);
    const call = { server: 'own', tool: 'add', args: { a: 'one' } };
    expect(await captureRejection(callTool(rig.parts, call, rig.inbound()))).toMatchObject({
      code: 'MCP_ARGUMENTS_INVALID',
    });
    expect([rig.lists().length, rig.calls().length]).toEqual([1, 0]);
  });

  test('one call obtains one credential, also when it has to look first', async () => {
    const rig = createToolcallRig(
      [own({ headers: { 'x-chat': '{{LIBRECHAT_BODY_CONVERSATIONID}}' } })],
      [numbers],
    );
    await callTool(rig.parts, { server: 'own', tool: 'add', args: { a: 1 } }, rig.inbound());
    expect(rig.obtained).toBe(1);
    // A connection of one request serves its list and its call, and no other request.
    const [list, first] = rig.leases.map(({ holder }) => holder?.requestKey);
    expect(list).toBe(first);
    await callTool(rig.parts, { server: 'own', tool: 'add', args: { a: 1 } }, rig.inbound());
    expect(rig.leases).toHaveLength(3);
    expect(rig.leases[2]?.holder?.requestKey).not.toBe(first);
  });

  test('a user’s server is leased for that user, a shared one for nobody', async () => {
    const rig = createToolcallRig([own(), defineServer('all')], [numbers]);
    await callTool(rig.parts, { server: 'own', tool: 'add', args: { a: 1 } }, rig.inbound());
    await callTool(rig.parts, { server: 'all', tool: 'add', args: { a: 1 } }, rig.inbound());
    const holders = rig.leases.map(({ server, holder }) => [server, holder?.principal]);
    expect(holders).toEqual([
      ['own', principalKey(adaUser)],
      ['own', principalKey(adaUser)],
      ['all', undefined],
      ['all', undefined],
    ]);
    expect(rig.obtained).toBe(1);
  });
});

describe('the tools of every server', () => {
  test('what was shown without a sign-in is shown, and says that it needs one', async () => {
    const rig = await warm([defineServer('own', { requiresOAuth: true }), defineServer('all')]);
    rig.credential = rejectSignIn;
    const listed = await listTools(rig.parts, rig.inbound());
    expect(listed.map(({ server, state, code, tools }) => [server.name, state, code, tools.length])).toEqual([
      ['own', 'needs_authorization', 'MCP_AUTHORIZATION_REQUIRED', 1],
      ['all', 'connected', undefined, 1],
    ]);
    const cold = createToolcallRig([defineServer('own', { requiresOAuth: true })]);
    cold.credential = rig.credential;
    expect(await listTools(cold.parts, cold.inbound())).toMatchObject([
      { state: 'needs_authorization', tools: [] },
    ]);
    expect([rig.sent.length, cold.sent.length]).toEqual([0, 0]);
  });

  test('those of a server that waits for a chat are shown once they are known', async () => {
    const chatty = defineServer('own', { headers: { 'x-chat': '{{LIBRECHAT_BODY_CONVERSATIONID}}' } });
    const rig = await warm([chatty]);
    rig.credential = () => {
      throw new GatewayError('REQUEST_INVALID');
    };
    expect(await listTools(rig.parts, rig.inbound())).toMatchObject([
      { state: 'connected', tools: [{ name: 'add' }] },
    ]);
    // What is wrong with the definition is not hidden by what was known before.
    rig.credential = () => {
      throw new GatewayError('MCP_CONFIG_INVALID');
    };
    expect(await listTools(rig.parts, rig.inbound())).toMatchObject([
      { state: 'unreachable', code: 'MCP_CONFIG_INVALID', tools: [] },
    ]);
  });
});

describe('tools that the definition hides', () => {
  const tools = [
    { name: 'read_one', annotations: { readOnlyHint: true } },
    { name: 'read_two', annotations: { readOnlyHint: 'yes' } },
    { name: 'drop_all', annotations: { readOnlyHint: true } },
    { name: 'write' },
  ];
  const filters: [JsonObject, string[]][] = [
    [{ include: ['read_*'] }, ['read_one', 'read_two']],
    [{ exclude: ['*_all', 'write'] }, ['read_one', 'read_two']],
    [{ readOnlyOnly: true }, ['read_one', 'drop_all']],
    [{ include: ['*'], exclude: ['drop_*'], readOnlyOnly: true }, ['read_one']],
  ];

  test('are neither listed nor found, known or just read', async () => {
    for (const [filter, offered] of filters) {
      for (const known of [true, false]) {
        const server = defineServer('own', { tools: filter });
        const rig = known ? await warm([server], tools) : createToolcallRig([server], tools);
        for (const { name } of tools) {
          const calling = callTool(rig.parts, { server: 'own', tool: name, args: {} }, rig.inbound());
          if (offered.includes(name)) await calling;
          else
            expect(rejectWith(await captureRejection(calling))).toMatchObject({
              code: 'MCP_TOOL_NOT_FOUND',
              errors: undefined,
            });
        }
        expect(rig.calls().map(({ params }) => params['name'])).toEqual(
          tools.map(({ name }) => name).filter((name) => offered.includes(name)),
        );
        const [listed] = await listTools(rig.parts, rig.inbound());
        expect(listed?.tools.map(({ name }) => name)).toEqual(offered);
      }
    }
  });

  test('also straight after the server showed them for the first time', async () => {
    const rig = await warm([defineServer('own', { tools: { exclude: ['write'] } })], []);
    rig.tools = tools;
    await rig.clock.advance(11_000);
    const call = { server: 'own', tool: 'write', args: {} };
    expect(await captureRejection(callTool(rig.parts, call, rig.inbound()))).toMatchObject({
      code: 'MCP_TOOL_NOT_FOUND',
    });
    expect([rig.lists().length, rig.calls().length]).toEqual([1, 0]);
  });
});
