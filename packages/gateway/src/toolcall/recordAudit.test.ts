import { aPrincipal } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  adaUser,
  defineServer,
  captureRejection,
  rejectSignIn,
  createToolcallRig,
} from '../../test/toolcallRig.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { callTool } from './callTool.ts';
import { readServer } from './read.ts';

const http = (overrides: object = {}) => defineServer('weather', { ...overrides });

describe('the trail of a call', () => {
  test('who, by which door, what, on whose authority, and how it ended', async () => {
    const rig = createToolcallRig([http({ headers: { 'X-Api-Key': 'planted-key' } })]);
    rig.answers = () => ({ content: [{ type: 'text', text: 'planted-answer' }] });
    const call = { server: 'weather', tool: 'echo', args: { city: 'planted-value', days: 3 } };
    await callTool(rig.parts, call, rig.inbound({ id: 'r-1' }));
    expect(rig.audited).toEqual([
      {
        kind: 'call',
        action: 'tool.call',
        tenant: 'default',
        actor: { kind: 'user', id: adaUser.userId, by: 'session' },
        door: 'rest',
        outcome: 'ok',
        code: undefined,
        server: 'weather',
        serverId: 'weather',
        tool: 'echo',
        arguments: ['city', 'days'],
        authority: 'static',
        scopes: undefined,
        durationMs: 0,
        request: 'r-1',
      },
    ]);
    expect(JSON.stringify(rig.audited)).not.toContain('planted');
  });

  test('each kind of authority has its name', async () => {
    const variable = { customUserVars: { KEY: { title: 'K', description: '' } } };
    const cases: [string, object][] = [
      ['none', {}],
      ['static', { headers: { a: 'b' } }],
      ['static', { headers: { a: '{{LIBRECHAT_USER_ID}}' } }],
      ['user_values', { ...variable, headers: { a: '{{KEY}}' } }],
      ['user_token', { requiresOAuth: true }],
      ['exchanged', { obo: { scopes: 'b a' } }],
    ];
    for (const [authority, definition] of cases) {
      const rig = createToolcallRig([http(definition)]);
      await callTool(rig.parts, { server: 'weather', tool: 'echo', args: {} }, rig.inbound());
      expect([authority, rig.audited[0]?.authority]).toEqual([authority, authority]);
      if (authority === 'exchanged') expect(rig.audited[0]?.scopes).toEqual(['a', 'b']);
    }
  });

  test('what was refused, failed or is uncertain is told apart', async () => {
    const rig = createToolcallRig([http()]);
    const call = (server = 'weather', tool = 'echo') =>
      callTool(rig.parts, { server, tool, args: {} }, rig.inbound()).catch(() => undefined);
    const last = () => {
      const { outcome, code, serverId } = rig.audited.at(-1)!;
      return [outcome, code, serverId];
    };
    await call('elsewhere');
    expect(last()).toEqual(['refused', 'MCP_TOOL_NOT_FOUND', undefined]);
    await call('weather', 'other');
    expect(last()).toEqual(['refused', 'MCP_TOOL_NOT_FOUND', 'weather']);
    rig.answers = () => ({ content: [], isError: true });
    await call();
    expect(last()).toEqual(['failed', undefined, 'weather']);
    rig.answers = () => {
      throw new UpstreamError('timeout');
    };
    await call();
    expect(last()).toEqual(['uncertain', 'MCP_TIMEOUT', 'weather']);
    rig.canSee = () => false;
    await call();
    expect(last()).toEqual(['refused', 'MCP_TOOL_NOT_FOUND', undefined]);
    expect(rig.audited).toHaveLength(5);
  });

  test('a needed sign-in is a refusal, although the caller gets a result', async () => {
    const rig = createToolcallRig([http({ requiresOAuth: true })]);
    rig.credential = rejectSignIn;
    await callTool(rig.parts, { server: 'weather', tool: 'echo', args: {} }, rig.inbound());
    expect(rig.audited).toMatchObject([{ outcome: 'refused', code: 'MCP_AUTHORIZATION_REQUIRED' }]);
  });

  test('what is read leaves a trail too, without the address that was asked for', async () => {
    const rig = createToolcallRig([http()]);
    const principal = aPrincipal({ authentication: { via: 'api_key', key: 'k1', scopes: ['mcp'] } });
    const inbound = rig.inbound({ principal });
    await readServer(
      rig.parts,
      'weather',
      { method: 'resources/read', params: { uri: 'x:planted' } },
      inbound,
    );
    const prompt = { name: 'greet', arguments: { who: 'planted' } };
    await readServer(rig.parts, 'weather', { method: 'prompts/get', params: prompt }, inbound);
    expect(rig.audited).toMatchObject([
      { action: 'resource.read', actor: { by: 'api_key' }, outcome: 'ok' },
      { action: 'prompt.get', tool: 'greet', arguments: ['who'] },
    ]);
    expect(JSON.stringify(rig.audited)).not.toContain('planted');
  });

  test('nobody’s token is exchanged while nothing can be written down', async () => {
    const rig = createToolcallRig([http({ obo: { scopes: 'a' } }), defineServer('plain')]);
    rig.hasRoom = false;
    const call = (server: string) => callTool(rig.parts, { server, tool: 'echo', args: {} }, rig.inbound());
    expect(await captureRejection(call('weather'))).toMatchObject({ code: 'AUDIT_UNAVAILABLE' });
    const reading = { method: 'resources/read', params: { uri: 'a:b' } } as const;
    expect(await captureRejection(readServer(rig.parts, 'weather', reading, rig.inbound()))).toMatchObject({
      code: 'AUDIT_UNAVAILABLE',
    });
    expect(rig.spent()).toEqual({ obtained: 0, leases: 0, sent: 0 });
    await call('plain');
    expect(rig.calls()).toHaveLength(1);
  });
});
