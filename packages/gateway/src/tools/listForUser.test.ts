import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { assignPublicNames, findPublicTool, listForUser } from './listForUser.ts';
import { type ToolList, buildToolList } from './toolList.ts';

const server = (id: string, normalizedName = id) =>
  ({ id, name: id, settings: { normalizedName } }) as ServerSnapshot;
const listOf = (of: ServerSnapshot, ...names: string[]): ToolList => {
  const listed = { items: names.map((name) => ({ name })), complete: true, era: 'modern' } as const;
  return buildToolList(of, listed, () => undefined);
};

function setUp() {
  const clock = createFakeClock();
  const caller = new AbortController();
  return { clock, caller, options: { clock, signal: caller.signal } };
}

describe('the tools of all servers of a user', () => {
  test('one that hangs and one that fails are named as such, and the others are there', async () => {
    const { clock, options } = setUp();
    const signals: AbortSignal[] = [];
    const load: Record<string, (of: ServerSnapshot) => Promise<ToolList>> = {
      fine: async (of) => listOf(of, 'echo'),
      silent: () => new Promise<never>(() => undefined),
      broken: () => Promise.reject(new UpstreamError('connect_failed')),
      odd: () => {
        throw new Error('no promise at all');
      },
    };
    const servers = Object.keys(load).map((id) => server(id));
    const listed = listForUser(
      servers,
      (of, signal) => {
        signals.push(signal);
        return (load[of.id] as (of: ServerSnapshot) => Promise<ToolList>)(of);
      },
      options,
    );
    await clock.advance(5_000);
    const found = await listed;
    expect(
      found.map(({ server: { id }, state, code, tools }) => [id, state, code, tools.map(({ name }) => name)]),
    ).toEqual([
      ['fine', 'connected', undefined, ['echo']],
      ['silent', 'unreachable', 'MCP_TIMEOUT', []],
      ['broken', 'unreachable', 'MCP_UNREACHABLE', []],
      ['odd', 'unreachable', 'MCP_UNREACHABLE', []],
    ]);
    // Who hangs is no longer waited for.
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true, false, false]);
  });

  test('what is missing is told apart: a sign-in, a setting, the server', async () => {
    const { options } = setUp();
    const errors: Record<string, Error> = {
      vars: new GatewayError('MCP_USER_VARS_MISSING'),
      signIn: new GatewayError('MCP_AUTHORIZATION_UNAVAILABLE'),
      rejected: new UpstreamError('unauthorized'),
      breaker: new UpstreamError('breaker_open'),
      own: new Error('of another folder'),
    };
    const found = await listForUser(
      Object.keys(errors).map((id) => server(id)),
      async ({ id }) => {
        throw errors[id] as Error;
      },
      {
        ...options,
        explain: (error) =>
          error === errors['own'] ? { state: 'needs_authorization', code: 'AUTH_REQUIRED' } : undefined,
      },
    );
    expect(found.map(({ state, code }) => [state, code])).toEqual([
      ['needs_configuration', 'MCP_USER_VARS_MISSING'],
      ['needs_authorization', 'MCP_AUTHORIZATION_UNAVAILABLE'],
      ['needs_authorization', 'MCP_CREDENTIAL_REJECTED'],
      ['unreachable', 'MCP_BREAKER_OPEN'],
      ['needs_authorization', 'AUTH_REQUIRED'],
    ]);
    expect(found.map(({ cause }) => cause)).toEqual(Object.values(errors));
  });

  test('the name in the list is the name that a call is routed by', async () => {
    const { options } = setUp();
    const servers = [server('id1', 'same'), server('id2', 'same'), server('c'), server('b_mcp_c')];
    const lists = new Map(
      servers.map((of) => [of, of.id === 'c' ? listOf(of, 'a_mcp_b', 'only') : listOf(of, 'a', 'very.long')]),
    );
    const found = await listForUser(servers, async (of) => lists.get(of) as ToolList, options);
    const seen = servers.map((of) => ({ server: of, list: lists.get(of) as ToolList }));
    const names = found.flatMap(({ server: of, tools }) => tools.map((tool) => ({ of, tool })));
    expect(new Set(names.map(({ tool }) => tool.publicName)).size).toBe(names.length);
    expect([...assignPublicNames(seen).keys()].sort()).toEqual(
      names.map(({ tool }) => tool.publicName).sort(),
    );
    for (const { of, tool } of names) {
      const routed = findPublicTool(tool.publicName, seen);
      expect([routed?.server, routed?.tool.name]).toEqual([of, tool.name]);
    }
    // Both would have it, so nobody does: better no tool than the wrong one.
    expect(findPublicTool('a_mcp_same', seen)).toBeUndefined();
    expect(findPublicTool('a_mcp_same', seen.slice(0, 1))?.server).toBe(servers[0]);
    expect(findPublicTool('only_mcp_c', seen)?.tool.name).toBe('only');
    expect(findPublicTool('unheard_mcp_c', seen)).toBeUndefined();
  });

  test('a caller who left gets nothing', async () => {
    const { caller, options } = setUp();
    const listed = listForUser([server('a')], () => Promise.reject(new Error('x')), options);
    caller.abort(new Error('gone'));
    await expect(listed).rejects.toThrow('gone');
  });
});
