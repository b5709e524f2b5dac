import { createKeyring, systemRandom as random } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { aUser } from '@behalf/testkit/suites';
import { describe, expect, test } from '@jest/globals';
import { importJWK, SignJWT, type JWK } from 'jose';
import { createRevocationMonitor } from '../revocationMonitor.ts';
import { createSignInSessions } from '../signInSessions.ts';
import { createClientGrants, createGrantTokenCallers, grantSessionHash } from './clientGrants.ts';
import { createAuthorizationServerKeys, rotateTokenSigningKey } from './signingKeys.ts';
import { createAuthorizationServerRecords } from './authorizationServerRecords.ts';

const BASE = 'https://gateway.example';

async function createRig() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random });
  const keyring = createKeyring([Buffer.alloc(32, 1)], random);
  const records = createAuthorizationServerRecords({ store: store.authorizationServer, keyring, clock });
  const sessions = createSignInSessions({ ...store, clock, random, endTokens: async () => undefined });
  const keys = createAuthorizationServerKeys({ records, changes: store.changes, random, clock });
  const reasons: unknown[] = [];
  const bearers = createGrantTokenCallers({
    ...{ sessions, users: store.users, clock, keys: keys.keySource },
    issuer: () => `${BASE}/as`,
    isResource: (url) => url === `${BASE}/mcp`,
    log: (_event, { reason }) => void reasons.push(reason),
  });
  const user = aUser({ id: 'u1' });
  await store.users.insert(user);
  const grants = createClientGrants({ sessions, clock });
  await grants.create(user, { grantId: 'g1', clientId: 'c1', from: '', groups: ['staff'] });
  async function token(overrides: Record<string, unknown> = {}, typ = 'at+jwt', jwk?: JWK): Promise<string> {
    const key = await importJWK(jwk ?? (await keys.secrets()).jwks[0]!, 'ES256');
    const now = Math.floor(clock.now() / 1_000);
    return new SignJWT({
      ...{ iss: `${BASE}/as`, aud: `${BASE}/mcp`, sub: 'u1', client_id: 'c1', grant: grantSessionHash('g1') },
      ...{ iat: now, exp: now + 600, ...overrides },
    })
      .setProtectedHeader({ alg: 'ES256', typ, kid: (await keys.secrets()).jwks[0]?.kid ?? '' })
      .sign(key);
  }
  return { clock, store, records, sessions, keys, bearers, grants, user, token, reasons };
}

describe('tokens of our own authorization server', () => {
  test('are their user, for the endpoint and by the grant they name', async () => {
    const { bearers, token, clock } = await createRig();
    const value = await token();
    expect(bearers.isOwnToken(value)).toBe(true);
    expect(bearers.isOwnToken(await token({ iss: 'https://idp.example' }))).toBe(false);
    expect(bearers.isOwnToken('nonsense')).toBe(false);
    const known = await bearers.resolve(value);
    expect(known?.caller).toMatchObject({
      ...{ kind: 'user', userId: 'u1', groups: ['staff'] },
      authentication: {
        ...{ via: 'bearer', endpoints: [`${BASE}/mcp`] },
        grant: { session: grantSessionHash('g1'), clientId: 'c1' },
      },
    });
    expect(known?.until).toBe(Math.floor(clock.now() / 1_000) * 1_000 + 630_000);
  });

  test('are nobody’s when anything in them does not fit', async () => {
    const { bearers, token, reasons } = await createRig();
    for (const [over, typ] of [
      [{ aud: `${BASE}/other` }],
      [{ aud: [`${BASE}/mcp`] }],
      [{ iss: 'https://idp.example' }],
      [{ sub: 'u2' }],
      [{ client_id: 'c2' }],
      [{ grant: grantSessionHash('g2') }],
      [{ grant: undefined }],
      [{ exp: 1 }],
      // As who has the key could sign it, and we never do.
      [{ exp: 9e9 }],
      [{ iat: undefined }],
      // An ID token is signed by the same key.
      [{}, 'JWT'],
    ] as [Record<string, unknown>, string?][]) {
      expect([over, typ, await bearers.resolve(await token(over, typ))]).toEqual([over, typ, null]);
    }
    expect(new Set(reasons)).toEqual(new Set(['audience', 'issuer', 'expired', 'type', 'malformed']));
  });

  test('end with the grant, the user and the account', async () => {
    const { bearers, token, grants, sessions, store, user, clock } = await createRig();
    const value = await token();
    await store.users.update('u1', { disabledAt: clock.now() }, clock.now());
    expect(await bearers.resolve(value)).toBeNull();
    await store.users.update('u1', { disabledAt: null }, clock.now());
    expect(await bearers.resolve(value)).not.toBeNull();
    await grants.endForClient('u1', 'another');
    expect(await bearers.resolve(value)).not.toBeNull();
    await grants.endForClient('u1', 'c1');
    expect(await bearers.resolve(value)).toBeNull();
    await grants.create(user, { grantId: 'g1', clientId: 'c1', from: '', groups: [] });
    expect(await bearers.resolve(value)).not.toBeNull();
    await sessions.endAll(user);
    expect(await bearers.resolve(value)).toBeNull();
  });

  test('end with what is held open by them when their key is over', async () => {
    const { bearers, token, store, keys, records, clock } = await createRig();
    const parts = { records, changes: store.changes, random, clock };
    const watch = createRevocationMonitor({ ...store, signingKeys: keys, clock });
    const over: string[] = [];
    const open = async (name: string) =>
      watch.subscribe((await bearers.resolve(await token()))!.caller, () => over.push(name));
    await open('by the first');
    // By the calendar: what it signed holds, and so does what was opened with it.
    await rotateTokenSigningKey(parts, false);
    await clock.advance(2_000);
    await open('by the second');
    await clock.advance(60_000);
    expect(over).toEqual([]);
    await rotateTokenSigningKey(parts, true);
    await clock.advance(2_000);
    expect(over).toEqual(['by the first', 'by the second']);
    await open('by the third');
    await clock.advance(2_000);
    expect(over).toHaveLength(2);
    watch.stop();
  });

  test('are signed by one key, whoever asks for it first', async () => {
    const { records, store, clock } = await createRig();
    const processes = Array.from({ length: 5 }, () =>
      createAuthorizationServerKeys({ records, changes: store.changes, random, clock }),
    );
    const made = await Promise.all(processes.map(async (keys) => (await keys.secrets()).cookieKey));
    expect(new Set(made).size).toBe(1);
  });
});
