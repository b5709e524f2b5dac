import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyring, systemRandom as random } from '@behalf/kernel';
import { openSqliteStore } from '@behalf/stores/sqlite';
import { createFakeClock } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { expectHeldToken, credentialKey, wait } from '../../test/vaultRig.ts';
import { principalKey } from '../principal/principal.ts';
import { subscribeToGrantChanges } from './grantChanges.ts';
import { createVault } from './vault/createVault.ts';

const disposables: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of disposables.splice(0).reverse()) await close();
});

const binding = { canonicalUrl: 'https://a', issuer: 'https://as', clientId: 'c', resource: null };

/** Two replicas on one SQLite file: what the other one does, a poll tells of, and not about whom. */
async function replicas() {
  const folder = mkdtempSync(join(tmpdir(), 'behalf-grants-'));
  disposables.push(() => rmSync(folder, { recursive: true, force: true }));
  const clock = createFakeClock();
  const keyring = createKeyring([new Uint8Array(32)], random);
  const received: string[] = [];
  let reads = 0;

  async function start() {
    const store = await openSqliteStore({ file: join(folder, 'behalf.db'), clock, random });
    const vault = createVault({
      ...{ store: store.credentials, usage: store.credentialUsage, pendingWrites: store.pendingWrites },
      ...{ leases: store.leases, changes: store.changes, keyring, clock, random },
      log: () => undefined,
      record: () => undefined,
      contexts: {
        resolve: async () => ({
          ...{ binding, headers: {}, form: {} },
          fetch: async () =>
            new Response(JSON.stringify({ access_token: 'renewed', expires_in: 3_600 }), {
              headers: { 'content-type': 'application/json' },
            }),
          client: { clientId: 'c', source: 'configured', auth: { method: 'none' } },
          profile: { rotationGraceMs: 0, revokeOnReplace: 'never' },
          rediscover: async () => null,
          reregister: async () => false,
        }),
      },
      readError: () => undefined,
    });
    disposables.push(async () => {
      await vault.close();
      await store.close();
    });
    return { vault, store };
  }

  const [here, there] = [await start(), await start()];
  const findById = async (id: string) => {
    reads += 1;
    return here.store.credentials.findById(id);
  };
  disposables.push(
    subscribeToGrantChanges({
      ...{ vault: here.vault, store: { findById }, clock },
      onGrantEnded: (...of) => void received.push(JSON.stringify(of)),
    }),
  );

  async function signIn(at: typeof here, user: string, baseGeneration = 0) {
    const tokens = { accessToken: `${user}-${baseGeneration}`, refreshToken: `r-${user}-${baseGeneration}` };
    const outcome = await at.vault.commit({
      ...{ ...credentialKey(user), binding, baseGeneration, scopesRequested: '', sentAt: clock.now() },
      endpoints: { token: 'https://as/token', revocation: null, authorization: null, fetchedAt: 0 },
      tokens: { ...tokens, tokenType: 'bearer', expiresInS: 3_600 },
    });
    expect(outcome.kind).toBe('committed');
  }

  return {
    ...{ clock, here, there, received, signIn },
    reads: () => reads,
    /** Time for a poll and what follows it. */
    receivedEvents: async () => {
      for (let i = 0; i < 8; i += 1) {
        await clock.advance(250);
        await wait(1);
      }
    },
    of: (user: string) => JSON.stringify(['files', principalKey({ tenant: 'default', userId: user })]),
  };
}

describe('a grant that is in use here', () => {
  test('and ended at another replica, is told of', async () => {
    const { here, there, received, signIn, receivedEvents, of } = await replicas();
    for (const user of ['ada', 'bob']) {
      await signIn(there, user);
      expectHeldToken(await here.vault.token(credentialKey(user)));
    }
    await receivedEvents();
    expect(received).toEqual([]);
    await there.vault.disconnect(credentialKey('ada'));
    await receivedEvents();
    expect(received).toEqual([of('ada')]);
  });

  test('and given anew at another replica, is told of once', async () => {
    const { here, there, received, signIn, receivedEvents, of } = await replicas();
    await signIn(there, 'ada');
    expectHeldToken(await here.vault.token(credentialKey('ada')));
    await signIn(there, 'ada', 1);
    await receivedEvents();
    expect(received).toEqual([of('ada')]);
    expectHeldToken(await here.vault.token(credentialKey('ada')));
    await receivedEvents();
    expect(received).toEqual([of('ada')]);
  });

  test('and given anew, is told of before its new token is used, whatever the poll does', async () => {
    const { clock, here, there, received, signIn, receivedEvents, of } = await replicas();
    await signIn(there, 'ada');
    expectHeldToken(await here.vault.token(credentialKey('ada')));
    await signIn(there, 'ada', 1);
    await here.store.changes.publish({ topic: 'settings', id: '*' });
    expect(expectHeldToken(await here.vault.token(credentialKey('ada'))).generation).toBe(2);
    expect(received).toEqual([of('ada')]);
    await clock.advance(1);
    await receivedEvents();
    expect(received).toEqual([of('ada')]);
  });

  test('and merely renewed, is left alone', async () => {
    const { clock, here, there, received, signIn, receivedEvents } = await replicas();
    await signIn(there, 'ada');
    await signIn(there, 'ada', 1);
    await receivedEvents();
    expectHeldToken(await here.vault.token(credentialKey('ada')));
    await clock.advance(3_600_000);
    // Here, where the notice names it, and there, where it does not.
    expect(expectHeldToken(await here.vault.token(credentialKey('ada')))).toMatchObject({
      generation: 2,
      tokenSeq: 2,
    });
    await receivedEvents();
    await clock.advance(3_600_000);
    expect(expectHeldToken(await there.vault.token(credentialKey('ada')))).toMatchObject({
      generation: 2,
      tokenSeq: 3,
    });
    await receivedEvents();
    expect(received).toEqual([]);
  });

  test('is all that is looked at', async () => {
    const { there, received, signIn, receivedEvents, reads } = await replicas();
    for (let i = 0; i < 5; i += 1) await signIn(there, `user-${i}`);
    await there.vault.disconnect(credentialKey('user-1'));
    await receivedEvents();
    expect(received).toEqual([]);
    expect(reads()).toBe(0);
  });
});
