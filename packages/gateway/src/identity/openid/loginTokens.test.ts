import { createKeyring, systemRandom as random, type Fetch } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock, type FakeClock } from '@behalf/testkit';
import { aUser } from '@behalf/testkit/suites';
import { describe, expect, test } from '@jest/globals';
import { dumpStore } from '../../../test/identityRig.ts';
import { createLoginRig } from '../../../test/loginRig.ts';
import { credentialId } from '../../ports/index.ts';
import { loginCredentialKey } from '../signInSessions.ts';
import { createProviderMetadata } from './provider.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const ISSUER = 'https://idp.example';
const ada = { tenant: 'default', userId: 'u-ada', session: 's1' };

async function createRig(fetch?: Fetch) {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random });
  const keyring = createKeyring([new Uint8Array(32).fill(1)], random);
  await store.users.insert(aUser({ id: 'u-ada', issuer: ISSUER, subject: 'ada' }));
  const { loginTokens: tokens } = createLoginRig({ store, keyring, clock, issuer: ISSUER, fetch });
  const granted = {
    ...{ issuer: ISSUER, subject: 'ada' },
    accessToken: 'access-secret',
    refreshToken: 'refresh-secret',
    idToken: 'id-secret',
    expiresAt: clock.now() + 600_000,
  };
  return { clock, store, tokens, granted, sessionEnd: clock.now() + DAY_MS };
}

/** The same at a provider whose metadata is read as everybody's is, with a client that has a secret. */
async function createProviderRig() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random });
  const keyring = createKeyring([new Uint8Array(32).fill(1)], random);
  await store.users.insert(aUser({ id: 'u-ada', issuer: ISSUER, subject: 'ada' }));
  const provider = { isDown: false, tokenPath: '/token', requests: [] as string[] };
  const fetch: Fetch = async (url, init) => {
    if (provider.isDown) throw new Error('down');
    const { pathname } = new URL(String(url));
    if (pathname.startsWith('/.well-known/')) {
      return Response.json({
        ...{ issuer: ISSUER, token_endpoint: `${ISSUER}${provider.tokenPath}`, jwks_uri: `${ISSUER}/jwks` },
        token_endpoint_auth_methods_supported: ['client_secret_post'],
      });
    }
    if (pathname !== provider.tokenPath) return new Response('gone', { status: 404 });
    const form = new URLSearchParams(init?.body as string);
    provider.requests.push([pathname, form.get('refresh_token'), form.get('client_secret')].join(' '));
    return Response.json({ access_token: 'access-2', token_type: 'Bearer', expires_in: 600 });
  };
  const metadata = createProviderMetadata({
    settings: { issuer: ISSUER },
    fetch,
    clock,
    log: () => undefined,
  });
  const parts = { store, keyring, clock, issuer: ISSUER, fetch, metadata, clientSecret: 'client-secret' };
  const granted = {
    ...{ issuer: ISSUER, subject: 'ada', idToken: 'id-secret' },
    ...{ accessToken: 'access-secret', refreshToken: 'refresh-secret' },
    expiresAt: clock.now() + 2 * 3_600_000,
  };
  const { loginTokens: tokens } = createLoginRig(parts);
  return { clock, tokens, granted, provider, sessionEnd: clock.now() + DAY_MS };
}

/** Time goes on while it is waited for. */
async function inTime<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  void work.finally(() => (isOver = true));
  while (!isOver) await clock.advance(250);
  return work;
}

describe('tokens of a login', () => {
  test('no token stands in the store in clear', async () => {
    const { tokens, granted, store, sessionEnd } = await createRig();
    await tokens.store(ada, granted, sessionEnd);
    const stored = await dumpStore(store);
    expect(stored).toContain('@login');
    expect(stored).not.toContain('secret');
    expect(await tokens.current(ada)).toMatchObject({ kind: 'token', accessToken: 'access-secret' });
  });

  test('tokens moved to another session or user do not open there', async () => {
    const { tokens, granted, store, sessionEnd } = await createRig();
    await store.users.insert(
      aUser({ id: 'u-eve', issuer: ISSUER, subject: 'eve', email: 'eve@example.com' }),
    );
    await tokens.store(ada, granted, sessionEnd);
    const record = (await store.credentials.find(loginCredentialKey(ada)))!;
    for (const [other, canonicalUrl] of [
      [{ ...ada, session: 's2' }, 'login:ada'],
      [{ ...ada, userId: 'u-eve' }, 'login:eve'],
      [{ ...ada, userId: 'u-eve' }, 'login:ada'],
    ] as const) {
      const key = loginCredentialKey(other);
      await store.credentials.remove(key);
      await store.credentials.insert({ ...record, ...key, canonicalUrl, id: credentialId(key) });
      expect(await tokens.current(other)).toEqual({ kind: 'absent' });
    }
  });

  test('they say themselves for how long they are good, and are kept while the session is', async () => {
    const { tokens, granted, store, clock, sessionEnd } = await createRig();
    await tokens.store(ada, { ...granted, refreshToken: undefined }, sessionEnd);
    expect(await tokens.current(ada)).toMatchObject({ expiresAt: clock.now() + 600_000 });
    await clock.advance(600_000);
    expect(await tokens.current(ada)).toEqual({ kind: 'expired' });
    expect(await store.credentials.removeExpired(clock.now())).toBe(0);
    await clock.advance(DAY_MS);
    expect(await store.credentials.removeExpired(clock.now())).toBe(1);
  });

  test('they are renewed at the provider before their end, and an outage ends nothing', async () => {
    const requests: string[] = [];
    let isDown = true;
    const { tokens, granted, clock, sessionEnd } = await createRig(async (url, init) => {
      if (isDown) throw new Error('down');
      requests.push(`${String(url)} ${new URLSearchParams(init?.body as string).get('refresh_token') ?? ''}`);
      return Response.json({ access_token: 'access-2', token_type: 'Bearer', expires_in: 600 });
    });
    await tokens.store(ada, granted, sessionEnd);
    await clock.advance(600_000);
    expect(await inTime(clock, tokens.current(ada))).toMatchObject({ kind: 'unavailable' });
    isDown = false;
    await clock.advance(70_000);
    expect(await inTime(clock, tokens.current(ada))).toMatchObject({ accessToken: 'access-2' });
    expect(requests).toEqual([`${ISSUER}/token refresh-secret`]);
  });

  test('they are used while the provider’s metadata cannot be read, and renewed when it can', async () => {
    const { tokens, granted, clock, sessionEnd, provider } = await createProviderRig();
    await tokens.store(ada, granted, sessionEnd);
    // What was known of the provider is over, and so is what was known of the token.
    provider.isDown = true;
    await clock.advance(3_600_000);
    expect(await tokens.current(ada)).toMatchObject({ kind: 'token', accessToken: 'access-secret' });
    await clock.advance(3_600_000);
    expect(await inTime(clock, tokens.current(ada))).toMatchObject({ kind: 'unavailable' });
    expect(provider.requests).toEqual([]);
    provider.isDown = false;
    await clock.advance(70_000);
    expect(await inTime(clock, tokens.current(ada))).toMatchObject({ accessToken: 'access-2' });
    expect(provider.requests).toEqual(['/token refresh-secret client-secret']);
  });

  test('they are renewed where the provider says now when the endpoint is gone', async () => {
    const { tokens, granted, clock, sessionEnd, provider } = await createProviderRig();
    await tokens.store(ada, { ...granted, expiresAt: clock.now() + 3_000_000 }, sessionEnd);
    await clock.advance(3_000_000);
    // What is known of it would hold for a while yet.
    provider.tokenPath = '/v2/token';
    expect(await inTime(clock, tokens.current(ada))).toMatchObject({ accessToken: 'access-2' });
    expect(provider.requests).toEqual(['/v2/token refresh-secret client-secret']);
  });

  test('they are nobody’s once the account is another’s', async () => {
    const { tokens, granted, store, sessionEnd } = await createRig();
    await tokens.store(ada, { ...granted, subject: 'somebody-else' }, sessionEnd);
    expect(await tokens.current(ada)).toEqual({ kind: 'absent' });
    expect(await store.credentials.find(loginCredentialKey(ada))).not.toBeNull();
  });
});
