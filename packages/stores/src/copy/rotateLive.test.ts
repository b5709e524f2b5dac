import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isStoreKeyValid } from '@behalf/gateway';
import { toCredentialSealContext, type CredentialRecord, type PrimaryStore } from '@behalf/gateway/ports';
import { createKeyring, systemClock, systemRandom, type Keyring } from '@behalf/kernel';
import { createMongoDouble } from '@behalf/testkit/mongo-double';
import { aCredential } from '@behalf/testkit/suites';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { openMongoStore } from '../mongo/openMongoStore.ts';
import { openSqliteStore } from '../sqlite/openSqliteStore.ts';
import { copyStore, rotateStore, RotationError } from './index.ts';

const parts = { clock: systemClock, random: systemRandom };
const random = systemRandom;
const oldKey = Buffer.alloc(32, 1);
const newKey = Buffer.alloc(32, 2);
const ring = (...keys: Buffer[]) => createKeyring(keys, random);
const keys = [newKey, oldKey];

describe('rotating the key beside gateways', () => {
  let dir = '';
  const open: { close(): Promise<void> }[] = [];
  const opened = <S extends { close(): Promise<void> }>(store: S): S => {
    open.push(store);
    return store;
  };
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'behalf-rotate-live-'));
  });
  afterEach(async () => {
    for (const store of open.splice(0).reverse()) await store.close();
    await rm(dir, { recursive: true, force: true });
  });

  /** Opens the same store again with every call, as each process does. */
  const stores: Record<string, () => Promise<() => Promise<PrimaryStore>>> = {
    sqlite: async () => async () => opened(await openSqliteStore({ ...parts, file: join(dir, 'a.db') })),
    mongo: async () => {
      const { uri } = opened(await createMongoDouble());
      return async () => opened(await openMongoStore({ ...parts, uri }));
    },
  };

  const sealedFor = (credential: CredentialRecord, text: string, keyring: Keyring): CredentialRecord => ({
    ...credential,
    sealed: keyring.seal(text, toCredentialSealContext(credential)),
  });
  const labels = Array.from({ length: 30 }, (_, i) => `c${i}`);
  async function fill(store: PrimaryStore): Promise<void> {
    const old = ring(oldKey);
    await isStoreKeyValid(store.system, old);
    for (const label of labels)
      await store.credentials.insert(sealedFor(aCredential({ label }), `${label} 1`, old));
  }
  const textsUnder = async (store: PrimaryStore, keyring: Keyring) => {
    const records = await store.credentials.list('default', 'user:u1', 's1');
    return new Map(
      records.map((record) => [record.label, keyring.open(record.sealed!, toCredentialSealContext(record))]),
    );
  };

  /** Stores the next pair of tokens, as a gateway does; what it says when it was. */
  async function renew(store: PrimaryStore, label: string, keyring: Keyring): Promise<string | null> {
    const held = (await store.credentials.find(aCredential({ label })))!;
    const next = { ...held, tokenSeq: held.tokenSeq + 1, rtHash: `rt-${held.tokenSeq + 1}` };
    const text = `${label} ${next.tokenSeq}`;
    const { sealed, tokenSeq, rtHash } = sealedFor(next, text, keyring);
    const when = { generation: 1, rtHash: held.rtHash };
    return (await store.credentials.replace(held.id, when, { sealed, tokenSeq, rtHash })) && text;
  }

  for (const [kind, opener] of Object.entries(stores)) {
    test(`on ${kind}, while several gateways store tokens nothing is lost, and the new key alone opens everything`, async () => {
      const openOne = await opener();
      const store = await openOne();
      await fill(store);
      const last = new Map(labels.map((label) => [label, `${label} 1`]));
      let rotating = true;
      const gateway = async (mine: readonly string[]) => {
        const own = await openOne();
        await own.system.heartbeat(`gateway ${mine[0]}`, 60_000);
        for (let i = 0; rotating; i += 1) {
          const label = mine[i % mine.length] as string;
          const stored = await renew(own, label, ring(...keys));
          // Nobody else renews this one: whatever the rotation does meanwhile, the write is made.
          expect(stored).not.toBeNull();
          last.set(label, stored as string);
        }
      };
      const gateways = [0, 1, 2].map((n) => gateway(labels.filter((_, i) => i % 3 === n)));
      const done = await rotateStore({ store: await openOne(), keys, random });
      rotating = false;
      await Promise.all(gateways);
      expect(done).toContainEqual(expect.objectContaining({ collection: 'credentials', sealed: 30 }));
      expect(await textsUnder(store, ring(newKey))).toEqual(last);
      expect(await isStoreKeyValid(store.system, ring(newKey))).toBe(true);
      expect([...last.values()].some((text) => !text.endsWith(' 1'))).toBe(true);
    }, 30_000);
  }

  /** A store whose every pass over the credentials is followed by something. */
  function afterEachPass(store: PrimaryStore, then: (pass: number) => Promise<void>): PrimaryStore {
    let passes = 0;
    return {
      ...store,
      raw: {
        ...store.raw,
        async page(name, after, limit) {
          const page = await store.raw.page(name, after, limit);
          // An empty page ends a pass; the first one only looks whether everything opens.
          if (name === 'credentials' && page.length === 0) await then((passes += 1));
          return page;
        },
      },
    };
  }

  test('a value that is written between the reading and the replacing of its record stays', async () => {
    const store = openMemoryStore(parts);
    await fill(store);
    const racing: PrimaryStore = {
      ...store,
      raw: {
        ...store.raw,
        async reseal(name, values) {
          if (name === 'credentials') await renew(store, 'c7', ring(...keys));
          return store.raw.reseal(name, values);
        },
      },
    };
    const done = await rotateStore({ store: racing, keys, random });
    expect(done.find(({ collection }) => collection === 'credentials')).toEqual({
      collection: 'credentials',
      sealed: 30,
      resealed: 29,
      unreadable: 0,
    });
    expect((await textsUnder(store, ring(newKey))).get('c7')).toBe('c7 2');
  });

  test('what is written under the old key meanwhile is sealed anew too', async () => {
    const store = openMemoryStore(parts);
    await fill(store);
    const busy = afterEachPass(store, async (pass) => {
      if (pass < 4) await renew(store, 'c0', ring(oldKey, newKey));
    });
    await rotateStore({ store: busy, keys, random });
    expect((await textsUnder(store, ring(newKey))).get('c0')).toBe('c0 4');
  });

  test('a gateway that goes on writing with the old key is told of, and the old key stays needed', async () => {
    const store = openMemoryStore(parts);
    await fill(store);
    const busy = afterEachPass(store, async () => void (await renew(store, 'c0', ring(oldKey, newKey))));
    const rotation = rotateStore({ store: busy, keys, random });
    await expect(rotation).rejects.toThrow(RotationError);
    await expect(rotation).rejects.toThrow(/A gateway still seals values with an old key/);
    expect(await isStoreKeyValid(store.system, ring(newKey))).toBe(false);
    expect((await textsUnder(store, ring(...keys))).size).toBe(30);
    await rotateStore({ store, keys, random });
    expect((await textsUnder(store, ring(newKey))).size).toBe(30);
  });

  test('it counts as one of the gateways: beside them, and never beside a copy or on half of one', async () => {
    const store = openMemoryStore(parts);
    await fill(store);
    const rotate = (of: PrimaryStore = store) => rotateStore({ store: of, keys, random });
    await store.system.beginMaintenance('copy', 60_000);
    await expect(rotate()).rejects.toThrow(/The store is being copied/);
    await store.system.endMaintenance('copy');
    await store.system.setCopySource('elsewhere');
    await expect(rotate()).rejects.toThrow(/unfinished copy/);
    await store.system.setCopySource(null);
    expect((await textsUnder(store, ring(oldKey))).size).toBe(30);
    const watched = afterEachPass(store, async () => {
      expect(await store.system.beginMaintenance('copy', 60_000)).toBe('refused');
    });
    await rotate(watched);
    await store.system.heartbeat('gateway', 60_000);
    await rotate();
    await store.system.removeWriter('gateway');
    expect(await store.system.beginMaintenance('copy', 60_000)).toBe('begun');
  });

  test('a credential that does not open survives writes to others, a rotation and a copy, and is told of', async () => {
    const store = openMemoryStore(parts);
    await fill(store);
    const lost = sealedFor(aCredential({ label: 'lost' }), 'lost', ring(Buffer.alloc(32, 9)));
    await store.credentials.insert(lost);
    // Nobody knows yet: perhaps its key is only missing from the list.
    await expect(rotateStore({ store, keys, random })).rejects.toThrow(
      /credentials .*lost.*: its sealed tokens cannot be decrypted \(unknown_key\)/,
    );
    expect((await textsUnderAllBut('lost', store, ring(oldKey))).size).toBe(30);
    await store.credentials.replace(lost.id, { generation: 1 }, { status: 'unreadable' });
    await renew(store, 'c0', ring(...keys));
    const done = await rotateStore({ store, keys, random });
    expect(done).toContainEqual({ collection: 'credentials', sealed: 30, resealed: 29, unreadable: 1 });
    const target = openMemoryStore(parts);
    await copyStore({ from: store, to: target, keyring: ring(newKey), random });
    for (const each of [store, target]) {
      expect((await each.credentials.findById(lost.id))?.sealed).toBe(lost.sealed);
      expect((await textsUnderAllBut('lost', each, ring(newKey))).size).toBe(30);
    }
    // The day its key is found, it opens, and the next rotation seals it anew.
    await rotateStore({ store, keys: [newKey, Buffer.alloc(32, 9)], random });
    const found = (await store.credentials.findById(lost.id))!;
    expect(ring(newKey).open(found.sealed!, toCredentialSealContext(found))).toBe('lost');
  });

  async function textsUnderAllBut(label: string, store: PrimaryStore, keyring: Keyring) {
    const all = await store.credentials.list('default', 'user:u1', 's1');
    return new Map(
      all
        .filter((record) => record.label !== label)
        .map((record) => [record.label, keyring.open(record.sealed!, toCredentialSealContext(record))]),
    );
  }
});
