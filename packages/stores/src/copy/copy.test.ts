import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  collectionNames,
  toCredentialSealContext,
  toDraftSealContext,
  keyCheckContext,
  toOAuthClientSealContext,
  toOverrideSealContext,
  toPasswordSealContext,
  toServerSealContext,
  toVariableSealContext,
  type PrimaryStore,
} from '@behalf/gateway/ports';
import { createKeyring, systemClock, systemRandom } from '@behalf/kernel';
import { createFakeClock, type FakeClock } from '@behalf/testkit';
import { createMongoDouble } from '@behalf/testkit/mongo-double';
import {
  aChatMessage,
  aBlock,
  aRun,
  aSet,
  aConversation,
  anAuthorizationServerRecord,
  aCredential,
  aDraft,
  anOAuthClient,
  aUsage,
  anAclRow,
  anApiKey,
  anOverride,
  aRole,
  aSegment,
  aSession,
  aStoredServer,
  aUser,
  aVariable,
  sealRecord,
} from '@behalf/testkit/suites';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { openMongoStore } from '../mongo/openMongoStore.ts';
import { openSqliteStore } from '../sqlite/openSqliteStore.ts';
import { copyStore, CopyError } from './index.ts';

const parts = { clock: systemClock, random: systemRandom };
const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);
const otherKeyring = createKeyring([Buffer.alloc(32, 2)], systemRandom);

describe('copying a store', () => {
  let dir = '';
  const open: { close(): Promise<void> }[] = [];
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'behalf-copy-'));
  });
  afterEach(async () => {
    for (const store of open.splice(0).reverse()) await store.close();
    await rm(dir, { recursive: true, force: true });
  });
  const sqlite = async (name: string) => {
    const store = await openSqliteStore({ ...parts, file: join(dir, name) });
    open.push(store);
    return store;
  };
  const mongo = async () => {
    const double = await createMongoDouble();
    open.push(double);
    const store = await openMongoStore({ ...parts, uri: double.uri });
    open.push(store);
    return store;
  };

  const session = aSession({ hash: 'h', userId: 'u0000', via: 'openid', groups: ['a', 'b'] });

  async function fill(store: PrimaryStore, count: number): Promise<void> {
    await store.system.getOrCreateKeyCheck(keyring.seal('behalf', keyCheckContext));
    await store.raw.put(
      'users',
      Array.from({ length: count }, (_, i) => {
        const id = `u${String(i).padStart(4, '0')}`;
        const passwordSealed = keyring.seal('hash', toPasswordSealContext({ id, tenant: 'default' }));
        return aUser({ id, subject: id, passwordSealed });
      }),
    );
    await store.sessions.insert(session);
    await store.tickets.issue({ hash: 't', kind: 'setup', createdAt: 1, expiresAt: 9e12 });
    const variable = aVariable();
    await store.variables.put([
      { ...variable, valueSealed: keyring.seal('a value', toVariableSealContext(variable)) },
    ]);
    const server = aStoredServer();
    await store.servers.insert({ ...server, configSealed: keyring.seal('{}', toServerSealContext(server)) });
    const configSealed = keyring.seal('{}', toOverrideSealContext(anOverride()));
    await store.overrides.put({ ...anOverride(), configSealed }, null);
    const sealed = keyring.seal('{}', toCredentialSealContext(aCredential()));
    await store.credentials.insert({ ...aCredential(), sealed, claimSeq: 3 });
    await store.credentials.insert({ ...aCredential({ label: 'ended' }), sealed: null });
    await store.credentialUsage.put(aUsage());
    const client = anOAuthClient();
    await store.oauthClients.insert({
      ...client,
      sealed: keyring.seal('{}', toOAuthClientSealContext(client)),
    });
    await store.drafts.insert(aDraft({ sealed: keyring.seal('{}', toDraftSealContext(aDraft())) }), 1);
    await store.roles.insert(aRole());
    const everyone = anAclRow({ principalType: 'public', principalId: '' });
    await store.acl.change({ put: [anAclRow(), everyone], remove: [] });
    await store.apiKeys.insert(anApiKey());
    await store.conversations.insert(sealRecord(keyring, 'conversations', aConversation()), 1);
    await store.raw.put('chatMessages', [sealRecord(keyring, 'chatMessages', aChatMessage())]);
    await store.blocks.insert(sealRecord(keyring, 'blocks', aBlock()), 1);
    await store.sets.insert(sealRecord(keyring, 'sets', aSet()), 1);
    await store.runs.insert(sealRecord(keyring, 'runs', aRun({ isCancelling: true })), 1);
    await store.authorizationServer.put(
      sealRecord(keyring, 'authorizationServer', anAuthorizationServerRecord({ consumedAt: 7 })),
    );
    for (const seq of [1, 2, 3]) await store.audit.append(aSegment({ seq }));
  }

  const everything = async (store: PrimaryStore) => {
    const pages = collectionNames.map(
      async (name) => [name, await store.raw.page(name, null, 10_000)] as const,
    );
    return Object.fromEntries(await Promise.all(pages));
  };

  test('SQLite to MongoDB and back leaves every record as it was', async () => {
    const source = await sqlite('a.db');
    const target = await mongo();
    const back = await sqlite('b.db');
    await fill(source, 450);
    const before = await everything(source);
    // No collection is there only by its name.
    for (const name of collectionNames) expect([name, before[name]?.length]).not.toEqual([name, 0]);
    await copyStore({ from: source, to: target, keyring, random: systemRandom });
    await copyStore({ from: target, to: back, keyring, random: systemRandom });
    expect(await everything(back)).toEqual(before);
    expect(await back.system.heartbeat('gateway', 1_000)).toBe('announced');
  });

  /** Stops when so many pages were copied. */
  async function cutShort(from: PrimaryStore, to: PrimaryStore, pages: number): Promise<void> {
    let left = pages;
    const onProgress = () => {
      left -= 1;
      if (left === 0) throw new Error('cut short');
    };
    const cut = copyStore({ from, to, keyring, random: systemRandom, onProgress });
    await expect(cut).rejects.toThrow('cut short');
  }

  for (const [kind, other] of [
    ['SQLite', () => sqlite('b.db')],
    ['MongoDB', mongo],
  ] as const) {
    test(`a copy to ${kind} that was cut short is finished by running it again`, async () => {
      const source = await sqlite('a.db');
      const target = await other();
      await fill(source, 450);
      await cutShort(source, target, 3);
      // Half a copy is nothing to start a gateway on, nor to copy from.
      expect(await target.system.heartbeat('gateway', 60_000)).toBe('in_maintenance');
      const onwards = copyStore({ from: target, to: await sqlite('c.db'), keyring, random: systemRandom });
      await expect(onwards).rejects.toThrow(/unfinished copy/);
      await copyStore({ from: source, to: target, keyring, random: systemRandom });
      expect(await everything(target)).toEqual(await everything(source));
      expect(await target.system.heartbeat('gateway', 60_000)).toBe('announced');
      await target.system.removeWriter('gateway');
      // And once more, over a copy that is complete.
      await copyStore({ from: source, to: target, keyring, random: systemRandom });
    });

    test(`what the source lost or got between two runs to ${kind} is lost or got by the copy`, async () => {
      const source = await sqlite('a.db');
      const target = await other();
      await fill(source, 250);
      // Everything but the last collection is there already.
      await cutShort(source, target, 4);
      expect(await target.raw.count('sessions')).toBe(1);
      await source.system.heartbeat('gateway', 60_000);
      await source.sessions.remove('h');
      await source.sessions.insert({ ...session, hash: 'h2' });
      await source.users.update('u0001', { role: 'ADMIN' }, 2);
      // The same person again, under another id: the unique index of the target would refuse the two together.
      const [removed] = await source.raw.page('users', 'u0001', 1);
      await source.raw.remove('users', ['u0002']);
      await source.raw.put('users', [{ ...removed!, id: 'again', passwordSealed: null }]);
      await source.system.removeWriter('gateway');
      await copyStore({ from: source, to: target, keyring, random: systemRandom });
      expect(await everything(target)).toEqual(await everything(source));
    });
  }

  test('the unfinished copy of another store is left alone', async () => {
    const source = await sqlite('a.db');
    const other = await sqlite('other.db');
    const target = await sqlite('b.db');
    await fill(source, 250);
    await fill(other, 3);
    await cutShort(source, target, 2);
    const before = await everything(target);
    await expect(copyStore({ from: other, to: target, keyring, random: systemRandom })).rejects.toThrow(
      /unfinished copy of another store/,
    );
    expect(await everything(target)).toEqual(before);
  });

  test('a store is not copied onto itself, whatever it is called', async () => {
    const source = await sqlite('a.db');
    await fill(source, 3);
    const before = await everything(source);
    await symlink(join(dir, 'a.db'), join(dir, 'b.db'));
    const again = await sqlite('b.db');
    await expect(copyStore({ from: source, to: again, keyring, random: systemRandom })).rejects.toThrow(
      'Source and target are the same store.',
    );
    expect(await everything(source)).toEqual(before);
    expect(await source.system.heartbeat('gateway', 1_000)).toBe('announced');
  });

  describe('that takes its time', () => {
    const memory = (clock: FakeClock) => openMemoryStore({ clock, random: systemRandom });
    /** A store whose every page takes so long. */
    const slow = (store: PrimaryStore, clock: FakeClock, ms: number): PrimaryStore => ({
      ...store,
      raw: {
        ...store.raw,
        async page(name, after, limit) {
          await clock.advance(ms);
          return store.raw.page(name, after, limit);
        },
      },
    });

    test('holds both stores from the first page to the last', async () => {
      const clock = createFakeClock();
      const [source, target] = [memory(clock), memory(clock)];
      await fill(source, 1_250);
      // Twice, because the second walks through what the target holds as well.
      for (let i = 0; i < 2; i += 1) {
        await copyStore({
          from: slow(source, clock, 20_000),
          to: slow(target, clock, 20_000),
          keyring,
          random: systemRandom,
        });
      }
      expect(await everything(target)).toEqual(await everything(source));
    });

    test('stops when a hold lapsed, whoever came meanwhile', async () => {
      const clock = createFakeClock();
      for (const lapsing of ['source', 'target'] as const) {
        const [source, target] = [memory(clock), memory(clock)];
        await fill(source, 450);
        const pages = (store: PrimaryStore, ms: number) => slow(store, clock, ms);
        const copy = copyStore({
          from: lapsing === 'source' ? pages(source, 31_000) : source,
          to: lapsing === 'target' ? pages(target, 31_000) : target,
          keyring,
          random: systemRandom,
        });
        await expect(copy).rejects.toThrow(/The maintenance lease on the source store expired/);
        expect(await source.system.heartbeat('gateway', 1_000)).toBe('announced');
      }
    });

    test('is refused when its last page came too late', async () => {
      const clock = createFakeClock();
      const [source, target] = [memory(clock), memory(clock)];
      await fill(source, 3);
      // What was copied is read back: the end of the last collection is the very last page.
      let isLast = false;
      const late: PrimaryStore = {
        ...target,
        raw: {
          ...target.raw,
          async put(name, records) {
            await target.raw.put(name, records);
            isLast = name === collectionNames.at(-1);
          },
          async page(name, after, limit) {
            const page = await target.raw.page(name, after, limit);
            if (isLast && page.length === 0) await clock.advance(31_000);
            return page;
          },
        },
      };
      await expect(copyStore({ from: source, to: late, keyring, random: systemRandom })).rejects.toThrow(
        /expired/,
      );
      expect(await target.system.getCopySource()).not.toBeNull();
    });

    test('frees each store even when the other cannot be told', async () => {
      const clock = createFakeClock();
      for (const away of ['source', 'target'] as const) {
        const [source, target] = [memory(clock), memory(clock)];
        await fill(source, 3);
        const deaf = (store: PrimaryStore): PrimaryStore => ({
          ...store,
          system: { ...store.system, endMaintenance: () => Promise.reject(new Error('away')) },
        });
        const copy = copyStore({
          from: away === 'source' ? deaf(source) : source,
          to: away === 'target' ? deaf(target) : target,
          keyring,
          random: systemRandom,
          onProgress: () => {
            throw new Error('the first mistake');
          },
        });
        await expect(copy).rejects.toThrow('the first mistake');
        const other = away === 'source' ? target : source;
        expect(await other.system.beginMaintenance('next', 1_000)).toBe('begun');
      }
    });
  });

  test('a store that a gateway writes is neither read nor written', async () => {
    const source = await sqlite('a.db');
    const target = await sqlite('b.db');
    await fill(source, 3);
    for (const busy of [source, target]) {
      await busy.system.heartbeat('gateway', 60_000);
      await expect(copyStore({ from: source, to: target, keyring, random: systemRandom })).rejects.toThrow(
        CopyError,
      );
      await busy.system.removeWriter('gateway');
    }
    expect(await target.users.count()).toBe(0);
  });

  test('under another key nothing is copied', async () => {
    const source = await sqlite('a.db');
    const target = await sqlite('b.db');
    await fill(source, 3);
    await expect(
      copyStore({ from: source, to: target, keyring: otherKeyring, random: systemRandom }),
    ).rejects.toThrow(/CREDS_KEY/);
    expect(await target.users.count()).toBe(0);
  });

  test('a sealed value that does not open stops the copy and is named', async () => {
    const source = await sqlite('a.db');
    const target = await sqlite('b.db');
    await fill(source, 3);
    const moved = (await source.users.findById('u0001'))!.passwordSealed;
    await source.raw.put('users', [{ ...aUser({ id: 'u0002', subject: 'u0002' }), passwordSealed: moved }]);
    await expect(copyStore({ from: source, to: target, keyring, random: systemRandom })).rejects.toThrow(
      /users u0002: its sealed password cannot be decrypted \(tampered\)/,
    );
  });

  test('tokens moved into another session’s row, and a change moved to another server, do not open', async () => {
    const source = await sqlite('a.db');
    await fill(source, 1);
    const copy = async (name: string) =>
      copyStore({ from: source, to: await sqlite(name), keyring, random: systemRandom });
    const [credential] = await source.raw.page('credentials', null, 1);
    const moved = aCredential({ label: 'another', sealed: credential!.sealed });
    await source.credentials.insert(moved);
    await expect(copy('b.db')).rejects.toThrow(/credentials .*: its sealed tokens cannot be decrypted/);
    await source.credentials.remove(moved);
    const [override] = await source.raw.page('overrides', null, 1);
    await source.overrides.put(anOverride({ name: 'b', configSealed: override!.configSealed }), null);
    await expect(copy('c.db')).rejects.toThrow(/overrides .*: its sealed config cannot be decrypted/);
  });

  test('a target that holds other records is named, not merged into silently', async () => {
    const source = await sqlite('a.db');
    const target = await sqlite('b.db');
    await fill(source, 3);
    await target.users.insert(aUser({ id: 'stranger', subject: 'stranger' }));
    await expect(copyStore({ from: source, to: target, keyring, random: systemRandom })).rejects.toThrow(
      /target contains users stranger/,
    );
    expect([await target.raw.count('system'), await target.users.count()]).toEqual([0, 1]);
  });
});
