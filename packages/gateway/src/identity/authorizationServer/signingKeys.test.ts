import { createKeyring, systemRandom as random } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { importJWK, SignJWT, type JWK } from 'jose';
import { verifyJwt } from '../openid/verifyJwt.ts';
import {
  ACCESS_LIFETIME_MS,
  type AuthorizationServerKeys,
  createAuthorizationServerKeys,
  rotateTokenSigningKey,
} from './signingKeys.ts';
import { createAuthorizationServerRecords } from './authorizationServerRecords.ts';

const ISSUER = 'https://gateway.example/as';
const AUDIENCE = 'https://gateway.example/mcp';

/** Replicas of one store. `isDeaf`: no notice reaches them. */
function createRig({ isDeaf = false } = {}) {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random });
  const keyring = createKeyring([Buffer.alloc(32, 1)], random);
  const records = createAuthorizationServerRecords({ store: store.authorizationServer, keyring, clock });
  const silent = { ...store.changes, subscribe: () => () => undefined, syncedUntil: () => 0 };
  const changes = isDeaf ? silent : store.changes;
  const replica = () => createAuthorizationServerKeys({ records, changes, random, clock });
  const signing = async (keys: AuthorizationServerKeys) => (await keys.secrets()).jwks[0]!;
  async function sign(jwk: JWK): Promise<string> {
    const now = Math.floor(clock.now() / 1_000);
    const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'u1', iat: now, exp: now + ACCESS_LIFETIME_MS / 1_000 };
    const header = { alg: 'ES256', kid: jwk.kid ?? '' };
    return new SignJWT(claims).setProtectedHeader(header).sign(await importJWK(jwk, 'ES256'));
  }
  const holds = (keys: AuthorizationServerKeys, token: string) =>
    verifyJwt(token, { keys: keys.keySource, clock, issuer: ISSUER, audience: [AUDIENCE] }).then(
      () => true,
      () => false,
    );
  /** `aheadMs`: by how much the clock of who rotates is ahead. */
  const rotate = (isAlone = false, aheadMs = 0) => {
    const there = { ...clock, now: () => clock.now() + aheadMs };
    return rotateTokenSigningKey({ records, changes: store.changes, random, clock: there }, isAlone);
  };
  return { clock, store, records, replica, signing, sign, holds, rotate };
}

describe.each([false, true])('signing keys, with a feed that is silent: %s', (isDeaf) => {
  test('another signs everywhere within two seconds', async () => {
    const rig = createRig({ isDeaf });
    const replicas = [rig.replica(), rig.replica()];
    const olds = await Promise.all(replicas.map(rig.signing));
    const kid = await rig.rotate();
    expect(new Set([kid, ...olds.map((jwk) => jwk.kid)]).size).toBe(2);
    // Known before it signs: no replica meets a token by a key that it never heard of.
    await rig.clock.advance(1_999);
    for (const keys of replicas) expect((await rig.signing(keys)).kid).toBe(olds[0]!.kid);
    await rig.clock.advance(1);
    for (const keys of replicas) {
      expect((await rig.signing(keys)).kid).toBe(kid);
      expect(await rig.holds(keys, await rig.sign(await rig.signing(replicas[0]!)))).toBe(true);
    }
  });

  test('with --now nothing by the old ones counts', async () => {
    const rig = createRig({ isDeaf });
    const replicas = [rig.replica(), rig.replica()];
    const first = await rig.sign(await rig.signing(replicas[0]!));
    await rig.rotate();
    await rig.clock.advance(2_000);
    const second = await rig.sign(await rig.signing(replicas[0]!));
    for (const keys of replicas) {
      expect([await rig.holds(keys, first), await rig.holds(keys, second)]).toEqual([true, true]);
    }
    const generations = replicas.map(({ keySource }) => keySource.generation());
    const pending = await rig.rotate();
    const kid = await rig.rotate(true);
    await rig.clock.advance(isDeaf ? 2_000 : 0);
    for (const [at, keys] of replicas.entries()) {
      expect((await rig.signing(keys)).kid).toBe(kid);
      expect([await rig.holds(keys, first), await rig.holds(keys, second)]).toEqual([false, false]);
      expect(keys.keySource.generation()).toBeGreaterThan(generations[at]!);
    }
    // Nor does one that was on its way come after it.
    await rig.clock.advance(60_000);
    for (const keys of replicas) {
      expect((await keys.secrets()).jwks.map((jwk) => jwk.kid)).toEqual([kid]);
      expect(kid).not.toBe(pending);
    }
  });

  test('with --now by a clock that is ahead nothing comes back', async () => {
    const rig = createRig({ isDeaf });
    const keys = rig.replica();
    const first = await rig.signing(keys);
    const second = await rig.rotate();
    await rig.clock.advance(2_000);
    expect((await rig.signing(keys)).kid).toBe(second);
    const kid = await rig.rotate(true, 30_000);
    await rig.clock.advance(isDeaf ? 2_000 : 0);
    for (let seconds = 0; seconds < 60; seconds += 10) {
      expect((await keys.secrets()).jwks.map((jwk) => jwk.kid)).toEqual([kid]);
      expect(await rig.holds(keys, await rig.sign(first))).toBe(false);
      await rig.clock.advance(10_000);
    }
  });

  test('what it ended stays so, whatever is rotated after it', async () => {
    const rig = createRig({ isDeaf });
    const keys = rig.replica();
    const first = await rig.signing(keys);
    await rig.rotate(true);
    await rig.clock.advance(60_000);
    await rig.rotate();
    // Over by the clock of who rotates, and not yet by ours.
    await rig.clock.advance(ACCESS_LIFETIME_MS + 20_000);
    await rig.rotate(false, 60_000);
    await rig.clock.advance(isDeaf ? 2_000 : 0);
    expect(await rig.holds(keys, await rig.sign(first))).toBe(false);
  });
});

describe('signing keys', () => {
  test('what an old one signed holds until it is over, and then it is gone', async () => {
    const rig = createRig();
    const keys = rig.replica();
    const old = await rig.signing(keys);
    await rig.rotate();
    await rig.clock.advance(1_999);
    const last = await rig.sign(old);
    await rig.clock.advance(ACCESS_LIFETIME_MS - 1_000);
    expect(await rig.holds(keys, last)).toBe(true);
    expect((await keys.secrets()).jwks).toHaveLength(2);
    // Whoever has the old key now has nothing.
    await rig.clock.advance(60_000);
    expect((await keys.secrets()).jwks).toHaveLength(1);
    expect(await rig.holds(keys, await rig.sign(old))).toBe(false);
  });

  test('those that are over leave the store, and there are never many', async () => {
    const rig = createRig();
    const keys = rig.replica();
    await keys.secrets();
    for (let day = 0; day < 5; day += 1) {
      expect(await rig.rotate()).not.toBeNull();
      await rig.clock.advance(24 * 60 * 60 * 1_000);
    }
    expect(await rig.records.count('Keys')).toBeLessThanOrEqual(3);
    const made = [];
    for (let times = 0; times < 15; times += 1) made.push(await rig.rotate());
    expect(made.at(-1)).toBeNull();
    expect(await rig.records.count('Keys')).toBeLessThanOrEqual(12);
    expect(await rig.rotate(true)).not.toBeNull();
    expect(await rig.records.count('Keys')).toBe(2);
  });

  test('two that are made at once are in nobody’s way', async () => {
    const rig = createRig();
    const replicas = [rig.replica(), rig.replica()];
    const first = await rig.sign(await rig.signing(replicas[0]!));
    await Promise.all([rig.rotate(), rig.rotate()]);
    await rig.clock.advance(2_000);
    const tokens = [
      first,
      ...(await Promise.all(replicas.map(async (keys) => rig.sign(await rig.signing(keys))))),
    ];
    for (const keys of replicas) {
      for (const token of tokens) expect(await rig.holds(keys, token)).toBe(true);
    }
  });

  test('a key that nobody has makes nobody read without end', async () => {
    const rig = createRig();
    const keys = rig.replica();
    await keys.secrets();
    let reads = 0;
    const list = rig.store.authorizationServer.list.bind(rig.store.authorizationServer);
    rig.store.authorizationServer.list = async (...args) => {
      reads += 1;
      return list(...args);
    };
    const forged = { ...(await rig.signing(keys)), kid: 'made up' };
    for (let times = 0; times < 20; times += 1)
      expect(await rig.holds(keys, await rig.sign(forged))).toBe(false);
    expect(reads).toBeLessThanOrEqual(1);
  });
});
