import { createKeyring, systemRandom, type Fetch } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { credentialKey } from '../../../test/vaultRig.ts';
import { credentialId } from '../../ports/index.ts';
import { createVault } from './createVault.ts';

const LIFETIME_MS = 600_000;

/** What the authorization server does with the next request, and how long it takes. */
interface Answer {
  readonly kind: 'tokens' | 'busy' | 'refuse-connection' | 'drop' | 'fail-after';
  readonly ms: number;
}

/** Rotates, and ends the family when a refresh token comes again. */
function createModel(clock: ReturnType<typeof createFakeClock>, answers: Answer[]) {
  let current = 'rt-0';
  let count = 0;
  let isDead = false;
  const seen: string[] = [];
  const state = { reuses: 0, lost: 0, rejections: 0, unwritten: 0, seen };

  const wait = (ms: number) => new Promise<void>((resolve) => void clock.timer(ms, resolve));
  const json = (status: number, body: object, headers = {}) =>
    new Response(JSON.stringify(body), {
      status,
      headers: { 'content-type': 'application/json', ...headers },
    });

  const fetch: Fetch = async (_url, init) => {
    const { kind, ms } = answers.shift() ?? { kind: 'tokens', ms: 10 };
    await wait(ms / 2);
    const ended = () => init?.signal?.throwIfAborted();
    if (kind === 'refuse-connection') throw Object.assign(new Error('refused'), { isUnsent: true });
    if (kind === 'busy') return json(429, {}, { 'retry-after': '1' });
    const sent = new URLSearchParams(init?.body as string).get('refresh_token') ?? '';
    seen.push(sent);
    const isGood = sent === current && !isDead;
    if (isGood) {
      count += 1;
      current = `rt-${count}`;
    } else {
      state.rejections += 1;
      if (!isDead) state.reuses += 1;
      isDead = true;
    }
    await wait(ms / 2);
    if (kind === 'drop' || kind === 'fail-after' || init?.signal?.aborted) state.lost += 1;
    ended();
    if (kind === 'drop') throw new Error('reset');
    if (kind === 'fail-after') return json(500, {});
    return isGood
      ? json(200, {
          access_token: `at-${count}`,
          refresh_token: current,
          token_type: 'bearer',
          expires_in: LIFETIME_MS / 1_000,
        })
      : json(400, { error: 'invalid_grant' });
  };
  return { fetch, state, isDead: () => isDead };
}

type Order =
  | { readonly do: 'token' | 'recover'; readonly at: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'fail'; readonly method: 'replace' | 'claim' | 'find'; readonly times: number }
  | { readonly do: 'leases'; readonly down: boolean };

const orders = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constantFrom('token' as const, 'recover' as const), at: fc.nat(1) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('pass' as const),
        ms: fc.constantFrom(1, 40, 300, 5_000, 21_000, 90_000, LIFETIME_MS),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('fail' as const),
        method: fc.constantFrom('replace' as const, 'claim' as const, 'find' as const),
        times: fc.integer({ min: 1, max: 3 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('leases' as const), down: fc.boolean() }) },
  ),
  { minLength: 5, maxLength: 40 },
);

function answersOf(...kinds: Answer['kind'][]) {
  const ms = fc.constantFrom(2, 50, 2_000, 9_000);
  return fc.array(fc.record({ kind: fc.constantFrom('tokens' as const, ...kinds), ms }), { maxLength: 30 });
}

async function play(steps: readonly Order[], answers: Answer[]) {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random: systemRandom });
  const model = createModel(clock, [...answers]);
  const failing = new Map<string, number>();
  let leasesDown = false;
  const credentials = new Proxy(store.credentials, {
    get:
      (target, name: keyof typeof store.credentials) =>
      async (...args: unknown[]) => {
        const left = failing.get(name) ?? 0;
        if (left > 0) {
          if (name === 'replace') model.state.unwritten += 1;
          failing.set(name, left - 1);
          throw new Error('The store does not answer');
        }
        return (target[name] as (...all: unknown[]) => Promise<unknown>)(...args);
      },
  });
  const binding = { canonicalUrl: 'https://a', issuer: 'https://as', clientId: 'c', resource: null };
  const endpoints = { token: 'https://as/token', revocation: null, authorization: null, fetchedAt: 0 };
  const vaults = [0, 1].map(() =>
    createVault({
      ...{
        store: credentials,
        usage: store.credentialUsage,
        pendingWrites: store.pendingWrites,
        changes: store.changes,
      },
      leases: {
        acquire: async (...args) =>
          leasesDown ? Promise.reject(new Error('away')) : store.leases.acquire(...args),
        findHolder: (key) => store.leases.findHolder(key),
      },
      keyring: createKeyring([new Uint8Array(32)], systemRandom),
      ...{ clock, random: systemRandom, log: () => undefined, record: () => undefined },
      contexts: {
        resolve: async () => ({
          ...{ binding, fetch: model.fetch, headers: {}, form: {} },
          client: { clientId: 'c', source: 'configured', auth: { method: 'none' } },
          profile: { rotationGraceMs: 0, revokeOnReplace: 'never' },
          rediscover: async () => null,
          reregister: async () => false,
        }),
      },
      readError: (error) =>
        error instanceof Error && 'isUnsent' in error
          ? { code: 'MCP_UNREACHABLE', requestSent: false }
          : undefined,
    }),
  );
  const tokens = {
    accessToken: 'at-0',
    refreshToken: 'rt-0',
    tokenType: 'bearer',
    expiresInS: LIFETIME_MS / 1_000,
  } as const;
  await vaults[0]!.commit({
    ...credentialKey(),
    binding,
    endpoints,
    tokens,
    sentAt: clock.now(),
    scopesRequested: '',
    baseGeneration: 0,
  });

  const calls: Promise<unknown>[] = [];
  const last = ['at-0', 'at-0'];
  for (const order of steps) {
    if (order.do === 'pass') await clock.advance(order.ms);
    else if (order.do === 'fail') failing.set(order.method, order.times);
    else if (order.do === 'leases') leasesDown = order.down;
    else {
      const { at } = order;
      const vault = vaults[at]!;
      const call =
        order.do === 'token' ? vault.token(credentialKey()) : vault.recover(credentialKey(), last[at]!);
      calls.push(call.then((one) => void (one.kind === 'token' && (last[at] = one.token.accessToken))));
    }
  }
  failing.clear();
  leasesDown = false;
  // Everything that was begun ends, and everybody's backoff is over.
  await clock.advance(200_000);
  await Promise.all(calls);
  await clock.advance(2 * LIFETIME_MS);
  await Promise.all([finish(0), finish(1)]);
  const record = await store.credentials.findById(credentialId(credentialKey()));
  // One of them may have been told to wait before the other one was refused: by now both know.
  const ends = await Promise.all([finish(0), finish(1)]);
  return { model, ends, record };

  async function finish(at: number) {
    const outcome = vaults[at]!.token(credentialKey());
    for (let i = 0; i < 40; i += 1) await clock.advance(2_000);
    return outcome;
  }
}

describe('two vaults and a rotating authorization server', () => {
  test('while answers arrive no refresh token is sent twice, whatever else fails', async () => {
    await fc.assert(
      fc.asyncProperty(orders, answersOf('busy', 'refuse-connection'), async (steps, answers) => {
        const { model, record } = await play(steps, answers);
        expect(model.state).toMatchObject({ reuses: 0, lost: 0, rejections: 0 });
        expect(new Set(model.state.seen).size).toBe(model.state.seen.length);
        expect(record).toMatchObject({ status: 'active' });
      }),
      { numRuns: 50 },
    );
  }, 60_000);

  test('a refresh token comes again only after an answer was lost, and then once', async () => {
    await fc.assert(
      fc.asyncProperty(orders, answersOf('busy', 'drop', 'fail-after'), async (steps, answers) => {
        const { model, ends, record } = await play(steps, answers);
        const { reuses, lost, rejections, unwritten, seen } = model.state;
        expect(reuses).toBeLessThanOrEqual(Math.min(1, lost));
        // A refusal may be lost as well, here or on its way into the store; one that arrives is the last.
        expect(rejections).toBeLessThanOrEqual(lost + unwritten + 1);
        expect(seen.length - new Set(seen).size).toBe(rejections);
        expect(record?.sealed).not.toBeNull();
        const isOver = record?.status === 'rejected';
        if (isOver) {
          expect(record).toMatchObject({ reason: 'lost_rotation' });
          expect(model.isDead()).toBe(true);
          for (const end of ends)
            expect(end).toMatchObject({ kind: 'needs_reauth', reason: 'lost_rotation' });
        }
      }),
      { numRuns: 50 },
    );
  }, 60_000);
});
