import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PrimaryStore } from '@behalf/gateway/ports';
import { systemClock, systemRandom } from '@behalf/kernel';
import { createMongoDouble, mongoDoubleBanner, type MongoDouble } from '@behalf/testkit/mongo-double';
import {
  aCredential,
  aUser,
  primarySuites,
  processesSuite,
  vaultProcessesSuite,
} from '@behalf/testkit/suites';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createConnection, type Connection } from 'mongoose';
import { STORAGE_FORMAT, StorageFormatError } from '../storageFormat.ts';
import { openMongoStore } from './openMongoStore.ts';

const parts = { clock: systemClock, random: systemRandom, pollMs: 20 };
const real = process.env['MONGO_URI'];
const label = real === undefined ? 'mongo (test double)' : 'mongo (real server)';
const used: string[] = [];
let double: MongoDouble | null = null;

beforeAll(async () => {
  if (real === undefined) double = await createMongoDouble();
  const which = double ? mongoDoubleBanner() : 'a real MongoDB, at MONGO_URI';
  process.stdout.write(`The MongoDB store is tested against: ${which}\n`);
});

afterAll(async () => {
  if (real !== undefined) await Promise.all(used.map(dropDatabase));
  await double?.close();
});

/** A database nobody has used before. */
function freshUri(): string {
  const database = `behalf_test_${Buffer.from(systemRandom.bytes(8)).toString('hex')}`;
  const uri = double ? double.uriFor(database) : withDatabase(real as string, database);
  used.push(uri);
  return uri;
}

/** Connection strings may list several hosts, which the URL class does not take. */
function withDatabase(uri: string, database: string): string {
  const [, server = '', path = '', query = ''] =
    /^(mongodb(?:\+srv)?:\/\/[^/?]+)\/?([^?]*)\??(.*)$/.exec(uri) ?? [];
  const options = new URLSearchParams(query);
  // Without a source of its own, an account is looked up in the database of the path.
  if (server.includes('@') && !options.has('authSource')) options.set('authSource', path || 'admin');
  return `${server}/${database}?${options.toString()}`;
}

async function dropDatabase(uri: string): Promise<void> {
  const connection = await createConnection(uri).asPromise();
  await connection.dropDatabase();
  await connection.close();
}

let last = '';
let orphans = '';
const open = async () => {
  orphans = await mkdtemp(join(tmpdir(), 'behalf-orphans-'));
  return openMongoStore({ ...parts, uri: (last = freshUri()), pendingWriteDir: orphans });
};
afterEach(() => rm(orphans, { recursive: true, force: true }));

primarySuites(label, open, () => openMongoStore({ ...parts, uri: last, pendingWriteDir: orphans }));
processesSuite(label, async () => ({ kind: 'mongo', uri: freshUri() }), { primary: true });
vaultProcessesSuite(label, async () => ({ kind: 'mongo', uri: freshUri() }));

describe(`two clients on ${label}`, () => {
  let stores: [PrimaryStore, PrimaryStore];
  beforeEach(async () => {
    const uri = freshUri();
    stores = await Promise.all([openMongoStore({ ...parts, uri }), openMongoStore({ ...parts, uri })]);
  });
  afterEach(() => Promise.all(stores.map((store) => store.close())));

  /** Fifty at once, from both clients in turn. */
  const fifty = <T>(work: (store: PrimaryStore, i: number) => Promise<T>) =>
    Promise.all(Array.from({ length: 50 }, (_, i) => work(stores[i % 2] as PrimaryStore, i)));

  test('of fifty that try to be first, one is', async () => {
    const outcomes = await fifty((store, i) =>
      store.users.insertFirst(aUser({ id: `u${i}`, subject: `s${i}` })),
    );
    expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(1);
    expect(await stores[0].users.count()).toBe(1);
  });

  test('of fifty that take a lease, one holds it', async () => {
    const leases = await fifty((store) => store.leases.acquire('k', 'refresh', 60_000));
    const held = leases.filter((lease) => lease !== null);
    expect(held).toHaveLength(1);
    expect((await stores[1].leases.findHolder('k'))?.owner).toBe(held[0]?.owner);
    expect(await held[0]?.release()).toBe(true);
    expect(await stores[1].leases.acquire('k', 'exchange', 60_000)).not.toBeNull();
  });

  test('of fifty that consume a ticket, one does', async () => {
    const now = Date.now();
    await stores[0].tickets.issue({ hash: 't', kind: 'setup', createdAt: now, expiresAt: now + 60_000 });
    const outcomes = await fifty((store) => store.tickets.consume('setup', 't', now));
    expect(outcomes.filter(Boolean)).toHaveLength(1);
  });

  test('of fifty that bring a key check, one counts', async () => {
    const answers = await fifty((store, i) => store.system.getOrCreateKeyCheck(`candidate-${i}`));
    expect(new Set(answers).size).toBe(1);
  });

  test('a gateway and a copy that start together never both go ahead', async () => {
    for (let round = 0; round < 10; round += 1) {
      // Whoever is asked first tends to arrive first: each has its turn.
      const requests = [
        async () => (await stores[0].system.heartbeat('gateway', 60_000)) === 'announced',
        async () => (await stores[1].system.beginMaintenance('copy', 60_000)) === 'begun',
      ];
      const went = await Promise.all((round % 2 === 0 ? requests : requests.reverse()).map((ask) => ask()));
      expect(went.filter(Boolean)).toHaveLength(1);
      await stores[0].system.removeWriter('gateway');
      await stores[1].system.endMaintenance('copy');
    }
  });

  test('of fifty that change what they saw of a user, one does', async () => {
    await stores[0].users.insert(aUser());
    const outcomes = await fifty((store, i) =>
      store.users.update('u1', { role: `R${i}` }, 2, { role: 'USER', roleSource: 'manual' }),
    );
    expect(outcomes.filter(Boolean)).toHaveLength(1);
  });

  test('of fifty that make theirs the default credential, one has it', async () => {
    const labels = Array.from({ length: 10 }, (_, i) => `l${i}`);
    await fifty((store, i) => store.credentials.insert(aCredential({ label: labels[i % 10] as string })));
    const defaults = async () =>
      (await stores[1].credentials.list('default', 'user:u1', 's1')).filter((held) => held.isDefault);
    expect(await defaults()).toHaveLength(1);
    await fifty((store, i) =>
      store.credentials.makeDefault(aCredential({ label: labels[i % 10] as string }).id),
    );
    const [chosen, ...others] = await defaults();
    expect(others).toEqual([]);
    // None of those that were chosen for a moment is left to follow it.
    await stores[0].credentials.remove(chosen!);
    expect(await defaults()).toEqual([]);
  });

  test('a text that begins with $ is a text, wherever it is written', async () => {
    const cache = stores[0].cache('$namespace');
    await cache.set('$$ROOT', '$value', 60_000);
    expect(await stores[1].cache('$namespace').get('$$ROOT')).toBe('$value');
    expect(await stores[0].system.heartbeat('$$NOW', 60_000)).toBe('announced');
    expect(await stores[1].system.beginMaintenance('$owner', 60_000)).toBe('refused');
    await stores[0].system.removeWriter('$$NOW');
    expect(await stores[1].system.beginMaintenance('$owner', 60_000)).toBe('begun');
    expect(await stores[0].system.beginMaintenance('$other', 60_000)).toBe('refused');
    expect(await stores[0].leases.acquire('$key', 'refresh', 60_000)).not.toBeNull();
    expect((await stores[0].attempts.hit('$key', 60_000)).count).toBe(1);
    const { id } = aCredential();
    await stores[0].credentials.insert(aCredential());
    const claimed = await stores[0].credentials.claim(id, {
      generation: 1,
      rtHash: 'rt-1',
      tokenSeq: 1,
      owner: '$tenant',
      ttlMs: 60_000,
    });
    expect(claimed?.record.claimOwner).toBe('$tenant');
    const written = { sealed: '$tenant', issuer: '$$NOW' };
    expect(await stores[0].credentials.replace(id, { generation: 1 }, written)).toMatchObject(written);
  });
});

describe(`the storage format on ${label}`, () => {
  const stateOf = (connection: Connection) =>
    connection.db!.collection<{ _id: string; format?: number }>('behalf_storeState');

  async function withConnection<T>(uri: string, work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await createConnection(uri).asPromise();
    try {
      return await work(connection);
    } finally {
      await connection.close();
    }
  }

  test('replicas that start at the same time on an empty database all open it, and record the format once', async () => {
    const uri = freshUri();
    const stores = await Promise.all(Array.from({ length: 5 }, () => openMongoStore({ ...parts, uri })));
    await stores[0]!.users.insert(aUser());
    await Promise.all(stores.map((store) => store.close()));
    const states = await withConnection(uri, (connection) => stateOf(connection).find({}).toArray());
    expect(states).toMatchObject([{ _id: 'store', format: STORAGE_FORMAT }]);
    await (await openMongoStore({ ...parts, uri })).close();
  });

  test('a database with users or servers and no format number is refused and stays unchanged', async () => {
    for (const collection of ['users', 'servers']) {
      const uri = freshUri();
      await withConnection(uri, (connection) =>
        connection.db!.collection<{ _id: string }>(`behalf_${collection}`).insertOne({ _id: 'old' }),
      );
      const opening = openMongoStore({ ...parts, uri });
      await expect(opening).rejects.toBeInstanceOf(StorageFormatError);
      await expect(opening).rejects.toThrow(
        /^The MongoDB database "behalf_test_\w+" uses the unnumbered storage format of an earlier preview\. .* Set MONGO_URI to an empty database\.$/,
      );
      const states = await withConnection(uri, (connection) => stateOf(connection).find({}).toArray());
      expect(states).toEqual([]);
    }
  });

  for (const [which, format, reason] of [
    ['no format', undefined, 'uses the unnumbered storage format of an earlier preview'],
    ['an earlier format', 99, 'uses storage format 99 of an earlier preview'],
    ['a newer format', 101, 'was written by a newer version of Behalf'],
  ] as const) {
    test(`a database whose state document has ${which} is refused`, async () => {
      const uri = freshUri();
      const state = { _id: 'store', writers: [], ...(format === undefined ? {} : { format }) };
      await withConnection(uri, (connection) => stateOf(connection).insertOne(state));
      const opening = openMongoStore({ ...parts, uri });
      await expect(opening).rejects.toBeInstanceOf(StorageFormatError);
      await expect(opening).rejects.toThrow(reason);
    });
  }
});
