import { createKeyring, SealError, systemRandom as random } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/stores/memory';
import { createFakeClock, verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import { everythingStored } from '../../../test/identityRig.ts';
import { credentialId } from '../../ports/index.ts';
import { loginKey } from '../loginKey.ts';
import { createLoginTokens, usableUntil } from './loginTokens.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const ada = { tenant: 'default', userId: 'u-ada', session: 's1' };

function createRig() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random });
  const keyring = createKeyring([new Uint8Array(32).fill(1)], random);
  const tokens = createLoginTokens({ credentials: store.credentials, keyring, clock });
  const given = {
    ...{ issuer: 'https://idp.example', subject: 'ada' },
    accessToken: 'access-secret',
    refreshToken: 'refresh-secret',
    idToken: 'id-secret',
    expiresAt: clock.now() + 600_000,
  };
  return { clock, store, tokens, given, sessionEnd: clock.now() + DAY_MS };
}

describe('tokens of a login', () => {
  verifies('openid.tokens.sealed', 'no token stands in the store in clear', async () => {
    const { tokens, given, store, sessionEnd } = createRig();
    await tokens.put(ada, given, sessionEnd);
    const stored = await everythingStored(store);
    expect(stored).toContain('@login');
    expect(stored).not.toContain('secret');
    expect(await tokens.find(ada)).toEqual(given);
  });

  verifies('openid.tokens.sealed', 'tokens moved to another session or user do not open there', async () => {
    const { tokens, given, store, sessionEnd } = createRig();
    await tokens.put(ada, given, sessionEnd);
    const record = (await store.credentials.find(loginKey(ada)))!;
    for (const other of [
      { ...ada, session: 's2' },
      { ...ada, userId: 'u-eve' },
      { ...ada, tenant: 'other' },
    ]) {
      const key = loginKey(other);
      await store.credentials.put({ ...record, ...key, id: credentialId(key) });
      await expect(tokens.find(other)).rejects.toBeInstanceOf(SealError);
    }
  });

  verifies(
    'openid.tokens.valid',
    'they say themselves for how long they are good, and are kept while the session is',
    async () => {
      const { tokens, given, store, clock, sessionEnd } = createRig();
      expect(usableUntil(given)).toBe(clock.now() + 600_000 - 30_000);
      await tokens.put(ada, given, sessionEnd);
      await clock.advance(600_000);
      expect(await tokens.find(ada)).toEqual(given);
      expect(await store.credentials.removeExpired(clock.now())).toBe(0);
      await clock.advance(DAY_MS);
      expect(await store.credentials.removeExpired(clock.now())).toBe(1);
    },
  );

  verifies('openid.tokens.valid', 'they end with their session, and with no other', async () => {
    const { tokens, given, clock } = createRig();
    const other = { ...ada, session: 's2' };
    await tokens.put(ada, given, clock.now() + 1_000);
    await tokens.put(other, given, clock.now() + DAY_MS);
    await clock.advance(1_000);
    expect(await tokens.find(ada)).toBeNull();
    expect(await tokens.remove(ada)).toBe(true);
    expect(await tokens.remove(ada)).toBe(false);
    expect(await tokens.find(other)).toEqual(given);
  });
});
