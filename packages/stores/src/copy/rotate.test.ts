import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isStoreKeyValid } from '@behalf/gateway';
import {
  toChatMessageSealContext,
  toBlockSealContext,
  toRunSealContext,
  toRunTitleSealContext,
  toSetSealContext,
  toConversationSealContext,
  toCredentialSealContext,
  toAuthorizationServerRecordSealContext,
  toOAuthClientSealContext,
  toOverrideSealContext,
  toPasswordSealContext,
  toServerSealContext,
  toVariableSealContext,
  type PrimaryStore,
} from '@behalf/gateway/ports';
import { createKeyring, systemClock, systemRandom } from '@behalf/kernel';
import { createMongoDouble } from '@behalf/testkit/mongo-double';
import {
  aChatMessage,
  aBlock,
  aRun,
  aSet,
  aConversation,
  anAuthorizationServerRecord,
  aCredential,
  anOAuthClient,
  anOverride,
  aSession,
  aStoredServer,
  aUser,
  aVariable,
} from '@behalf/testkit/suites';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { openMongoStore } from '../mongo/openMongoStore.ts';
import { openSqliteStore } from '../sqlite/openSqliteStore.ts';
import { rotateStore } from './index.ts';

const parts = { clock: systemClock, random: systemRandom };
const random = systemRandom;
const oldKey = Buffer.alloc(32, 1);
const newKey = Buffer.alloc(32, 2);
const ring = (...keys: Buffer[]) => createKeyring(keys, random);
/** Hundreds of records in the double, on a busy machine. */
const PATIENCE_MS = 60_000;

describe('rotating the key', () => {
  let dir = '';
  const open: { close(): Promise<void> }[] = [];
  const opened = <S extends { close(): Promise<void> }>(store: S): S => {
    open.push(store);
    return store;
  };
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'behalf-rotate-'));
  });
  afterEach(async () => {
    for (const store of open.splice(0).reverse()) await store.close();
    await rm(dir, { recursive: true, force: true });
  });
  const stores: Record<string, () => Promise<PrimaryStore>> = {
    memory: async () => openMemoryStore(parts),
    sqlite: async () => opened(await openSqliteStore({ ...parts, file: join(dir, 'a.db') })),
    mongo: async () => {
      const double = opened(await createMongoDouble());
      return opened(await openMongoStore({ ...parts, uri: double.uri }));
    },
  };

  /** As gateways with the old key left it. */
  async function fill(store: PrimaryStore, count: number): Promise<void> {
    const old = ring(oldKey);
    expect(await isStoreKeyValid(store.system, old)).toBe(true);
    await store.raw.put(
      'users',
      Array.from({ length: count }, (_, i) => {
        const id = `u${String(i).padStart(4, '0')}`;
        const passwordSealed = old.seal(`hash of ${id}`, toPasswordSealContext({ id, tenant: 'default' }));
        return aUser({ id, subject: id, passwordSealed: i % 10 === 9 ? null : passwordSealed });
      }),
    );
    await store.sessions.insert(aSession({ userId: 'u0000' }));
  }

  const everything = async (store: PrimaryStore) => ({
    system: await store.raw.page('system', null, 10_000),
    users: await store.raw.page('users', null, 10_000),
    sessions: await store.raw.page('sessions', null, 10_000),
  });

  /** What the accounts hold once opened, under these keys alone. */
  const passwordsUnder = async (store: PrimaryStore, ...keys: Buffer[]) =>
    (await store.raw.page('users', null, 10_000))
      .filter((user) => user.passwordSealed !== null)
      .map((user) => ring(...keys).open(user.passwordSealed!, toPasswordSealContext(user)));

  for (const [kind, openStore] of Object.entries(stores)) {
    test(
      `on ${kind}, afterwards the new key alone opens everything`,
      async () => {
        const store = await openStore();
        await fill(store, 450);
        const before = await everything(store);
        const passwords = await passwordsUnder(store, oldKey);
        expect(await isStoreKeyValid(store.system, ring(newKey))).toBe(false);
        const done = await rotateStore({ store, keys: [newKey, oldKey], random });
        expect(done.filter(({ sealed }) => sealed > 0)).toEqual([
          { collection: 'users', sealed: 405, resealed: 405, unreadable: 0 },
          { collection: 'system', sealed: 1, resealed: 1, unreadable: 0 },
        ]);
        expect(await passwordsUnder(store, newKey)).toEqual(passwords);
        expect(await isStoreKeyValid(store.system, ring(newKey))).toBe(true);
        expect(await isStoreKeyValid(store.system, ring(oldKey))).toBe(false);
        const after = await everything(store);
        const blank = <R extends object>(records: R[]) =>
          records.map((record) => ({ ...record, passwordSealed: '', value: '' }));
        expect(blank(after.users)).toEqual(blank(before.users));
        expect(after.sessions).toEqual(before.sessions);
        expect(await store.system.heartbeat('gateway', 1_000)).toBe('announced');
      },
      PATIENCE_MS,
    );

    test(`on ${kind}, values, definitions, changes, credentials, conversations, blocks, sets and runs are sealed anew too`, async () => {
      const store = await openStore();
      await fill(store, 1);
      const variable = aVariable();
      const server = aStoredServer();
      const old = ring(oldKey);
      await store.variables.put([
        { ...variable, valueSealed: old.seal('a value', toVariableSealContext(variable)) },
      ]);
      await store.servers.insert({ ...server, configSealed: old.seal('{}', toServerSealContext(server)) });
      const override = anOverride();
      const configSealed = old.seal('{"a":1}', toOverrideSealContext(override));
      await store.overrides.put({ ...override, configSealed }, null);
      const credential = aCredential();
      const sealed = old.seal('a token', toCredentialSealContext(credential));
      await store.credentials.insert({ ...credential, sealed });
      const client = anOAuthClient();
      const registered = old.seal('a secret', toOAuthClientSealContext(client));
      await store.oauthClients.insert({ ...client, sealed: registered });
      const conversation = aConversation();
      const titled = old.seal('a title', toConversationSealContext(conversation));
      await store.conversations.insert({ ...conversation, sealed: titled }, 1);
      const message = aChatMessage();
      const said = old.seal('a message', toChatMessageSealContext(message));
      await store.raw.put('chatMessages', [{ ...message, sealed: said }]);
      const block = aBlock();
      await store.blocks.insert({ ...block, sealed: old.seal('inputs', toBlockSealContext(block)) }, 1);
      const set = aSet();
      await store.sets.insert({ ...set, sealed: old.seal('steps', toSetSealContext(set)) }, 1);
      const run = aRun();
      const titleSealed = old.seal('a set', toRunTitleSealContext(run));
      await store.runs.insert({ ...run, titleSealed, sealed: old.seal('results', toRunSealContext(run)) }, 1);
      const issued = anAuthorizationServerRecord();
      await store.authorizationServer.put({
        ...issued,
        sealed: old.seal('a grant', toAuthorizationServerRecordSealContext(issued)),
      });
      const done = await rotateStore({ store, keys: [newKey, oldKey], random });
      expect(done.filter(({ resealed }) => resealed > 0).map(({ collection }) => collection)).toEqual([
        'users',
        'variables',
        'servers',
        'overrides',
        'credentials',
        'oauthClients',
        'conversations',
        'chatMessages',
        'blocks',
        'sets',
        'runs',
        'authorizationServer',
        'system',
      ]);
      const [row] = await store.variables.list('default', 'u1', 's1');
      expect(ring(newKey).open(row!.valueSealed, toVariableSealContext(variable))).toBe('a value');
      const found = await store.servers.find('default', 's1');
      expect(ring(newKey).open(found!.configSealed, toServerSealContext(server))).toBe('{}');
      const changed = await store.overrides.find('default', 'files');
      expect(ring(newKey).open(changed!.configSealed, toOverrideSealContext(override))).toBe('{"a":1}');
      const held = await store.credentials.find(credential);
      expect(ring(newKey).open(held!.sealed!, toCredentialSealContext(credential))).toBe('a token');
      const known = await store.oauthClients.find(client);
      expect(ring(newKey).open(known!.sealed, toOAuthClientSealContext(client))).toBe('a secret');
      const stored = await store.conversations.find('default', 'u1', 'c1');
      expect(ring(newKey).open(stored!.sealed, toConversationSealContext(conversation))).toBe('a title');
      const [again] = await store.conversations.listMessages('default', 'u1', 'c1');
      expect(ring(newKey).open(again!.sealed, toChatMessageSealContext(message))).toBe('a message');
      const saved = await store.blocks.find('default', 'b1');
      expect(ring(newKey).open(saved!.sealed, toBlockSealContext(block))).toBe('inputs');
      const steps = await store.sets.find('default', 'b1');
      expect(ring(newKey).open(steps!.sealed, toSetSealContext(set))).toBe('steps');
      const ran = await store.runs.find('default', 'u1', 'r1');
      expect(ring(newKey).open(ran!.titleSealed, toRunTitleSealContext(run))).toBe('a set');
      expect(ring(newKey).open(ran!.sealed, toRunSealContext(run))).toBe('results');
      const granted = await store.authorizationServer.find(issued.key, 0);
      expect(ring(newKey).open(granted!.sealed, toAuthorizationServerRecordSealContext(issued))).toBe(
        'a grant',
      );
    });

    test(
      `on ${kind}, a rotation that was cut short is finished`,
      async () => {
        const store = await openStore();
        await fill(store, 450);
        let steps = 0;
        const cut: PrimaryStore = {
          ...store,
          raw: {
            ...store.raw,
            async reseal(name, values) {
              steps += 1;
              if (steps === 2) throw new Error('cut short');
              return store.raw.reseal(name, values);
            },
          },
        };
        await expect(rotateStore({ store: cut, keys: [newKey, oldKey], random })).rejects.toThrow(
          'cut short',
        );
        // Half way both keys are needed, and a gateway that lacks the old one is told so.
        expect(await isStoreKeyValid(store.system, ring(newKey))).toBe(false);
        expect(await isStoreKeyValid(store.system, ring(newKey, oldKey))).toBe(true);
        expect(await passwordsUnder(store, newKey, oldKey)).toHaveLength(405);
        const done = await rotateStore({ store, keys: [newKey, oldKey], random });
        expect(done.find(({ collection }) => collection === 'users')).toEqual({
          collection: 'users',
          sealed: 405,
          resealed: 225,
          unreadable: 0,
        });
        expect(await passwordsUnder(store, newKey)).toHaveLength(405);
        const rotated = await everything(store);
        // And a third time, with the old key gone: nothing is left to do.
        const again = await rotateStore({ store, keys: [newKey], random });
        expect(again.map(({ resealed }) => resealed)).toEqual(again.map(() => 0));
        expect(await everything(store)).toEqual(rotated);
      },
      PATIENCE_MS,
    );
  }

  test('without the key of the store nothing is changed', async () => {
    const store = await stores['sqlite']!();
    await fill(store, 3);
    const before = await everything(store);
    const wrong = Buffer.alloc(32, 3);
    await expect(rotateStore({ store, keys: [newKey, wrong], random })).rejects.toThrow(/CREDS_KEY/);
    expect(await everything(store)).toEqual(before);
    expect(await isStoreKeyValid(store.system, ring(oldKey))).toBe(true);
  });

  test('one value that does not open stops it before anything is changed, and is named', async () => {
    const store = await stores['sqlite']!();
    await fill(store, 450);
    const moved = (await store.users.findById('u0001'))!.passwordSealed;
    await store.raw.put('users', [aUser({ id: 'u0448', subject: 'u0448', passwordSealed: moved })]);
    const before = await everything(store);
    await expect(rotateStore({ store, keys: [newKey, oldKey], random })).rejects.toThrow(
      /users u0448: its sealed password cannot be decrypted \(tampered\)/,
    );
    expect(await everything(store)).toEqual(before);
  });

  test('a store nobody has used is not given a key', async () => {
    const store = await stores['sqlite']!();
    await expect(rotateStore({ store, keys: [newKey, oldKey], random })).rejects.toThrow(/nothing to rotate/);
    expect(await store.raw.count('system')).toBe(0);
  });
});
