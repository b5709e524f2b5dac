import { describe, expect, test } from '@jest/globals';
import { createFakeIo, createProblem } from '../../test/fakeIo.ts';
import type { Io } from '../io.ts';
import { runCli } from '../run.ts';
import { commands } from './commands.ts';

const flow = {
  flowId: 'f1',
  connectUrl: 'http://gw.example/connect?flowId=f1',
  expiresAt: 2_000_000,
  label: 'default',
};
const credential = {
  ...{
    id: 'c',
    server: 'notes',
    label: 'default',
    kind: 'oauth_code',
    isDefault: true,
    status: 'active',
    since: 0,
  },
  ...{
    issuer: 'https://as.example',
    scopes: '',
    expiresAt: null,
    hasRefreshToken: true,
    fingerprint: 'abcd1234',
  },
  ...{ lastUsedAt: null, createdAt: 0, updatedAt: 0 },
};
const ended = (overrides: object) => ({
  status: 'COMPLETED',
  completed: true,
  failed: false,
  expiresAt: 2_000_000,
  ...overrides,
});
const pending = ended({ status: 'PENDING', completed: false });
const START = 'POST /api/mcp/notes/oauth/start';
const STATUS = 'GET /api/mcp/oauth/status/f1';

type Answer = readonly [number, unknown];

/** A login against a gateway whose answers about the flow come one after the other. */
async function login(
  statuses: readonly (object | 'away')[],
  credentials: readonly object[],
  overrides: Partial<Io> = {},
  start: Answer = [201, flow],
) {
  const left = [...statuses];
  const io = createFakeIo(
    {
      [START]: start,
      [STATUS]: () => {
        const next = left.shift() ?? pending;
        if (next === 'away') throw new TypeError('fetch failed');
        return [200, next];
      },
      'GET /api/mcp/notes/credentials': [200, { credentials }],
      'POST /api/mcp/oauth/cancel/notes': [200, {}],
    },
    overrides,
  );
  const code = await runCli(['mcp', 'login', 'notes', '--json'], commands, io, '1');
  return { code, io, json: JSON.parse(io.printed.out) as Record<string, unknown> };
}

describe('a login from the command line', () => {
  test('is over when the token is there and the server was asked with it', async () => {
    for (const [probe, held, code] of [
      ['ok', [credential], 0],
      ['unverified', [credential], 0],
      ['unreachable', [credential], 1],
      [undefined, [credential], 1],
      ['ok', [], 1],
      ['ok', [{ ...credential, status: 'rejected' }], 1],
      ['ok', [{ ...credential, label: 'other' }], 1],
    ] as const) {
      const done = await login([pending, pending, ended(probe ? { probe } : {})], held);
      expect([probe, held, done.code]).toEqual([probe, held, code]);
      expect(done.io.requests.filter(({ path }) => path.startsWith('/api/mcp/oauth/status'))).toHaveLength(3);
    }
  });

  test('outlives a gateway that restarts, and not one that is gone', async () => {
    expect((await login(['away', pending, 'away', ended({ probe: 'ok' })], [credential])).code).toBe(0);
    expect(
      (
        await login(
          Array.from({ length: 50 }, () => 'away' as const),
          [],
        )
      ).code,
    ).toBe(3);
  });

  test('tells why it failed, and when nobody finished it', async () => {
    const failed = ended({ status: 'FAILED', completed: false, failed: true, error: 'access_denied' });
    expect(await login([failed], [credential])).toMatchObject({
      code: 1,
      json: { signedIn: false, error: 'access_denied' },
    });
    let now = 1_000_000;
    const later = { now: () => (now += 400_000) };
    expect(await login([], [credential], later)).toMatchObject({ code: 1, json: { error: 'expired' } });
  });

  test('goes on with one that is under way, and does not end it for the other', async () => {
    const joined = createProblem(409, 'MCP_FLOW_PENDING', 'under way', flow);
    expect((await login([ended({ probe: 'ok' })], [credential], {}, joined)).code).toBe(0);
    expect((await login([], [], {}, createProblem(409, 'MCP_FLOW_PENDING', 'under way'))).code).toBe(1);
    expect((await login([], [], {}, createProblem(429, 'MCP_FLOW_LIMIT', 'too many'))).code).toBe(7);
  });

  test('opens a browser only where somebody sits before one', async () => {
    const opened: string[] = [];
    const openBrowser = async (url: string) => opened.push(url) > 0;
    const well = [ended({ probe: 'ok' })];
    const quiet = await login(well, [credential], { openBrowser });
    expect([opened, quiet.io.printed.err.includes(flow.connectUrl)]).toEqual([[], true]);
    await login(well, [credential], { openBrowser, isInteractive: true });
    expect(opened).toEqual([flow.connectUrl]);
  });
});
