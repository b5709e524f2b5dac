import type { PrimaryStore } from '@behalf/gateway/ports';
import { systemClock, systemRandom } from '@behalf/kernel';
import { createFakeClock, type FakeClock } from '@behalf/testkit';
import { createMongoDouble, type MongoDouble } from '@behalf/testkit/mongo-double';
import {
  aChatMessage,
  aBlock,
  aRun,
  aConversation,
  aCredential,
  aDraft,
  aFlow,
  anAclRow,
  anOAuthClient,
  aRole,
  aSegment,
  aUser,
} from '@behalf/testkit/suites';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { StoreUnavailableError } from '../errors.ts';
import { openMongoStore, type MongoParts } from './openMongoStore.ts';

// Faults by switch and a server's clock that a test can move exist on the double alone.
let clock: FakeClock;
let double: MongoDouble;
let store: PrimaryStore;
let uri: string;
const parts = { clock: systemClock, random: systemRandom, pollMs: 20, timeoutMs: 600 };

beforeEach(async () => {
  clock = createFakeClock();
  double = await createMongoDouble({ clock });
  // The driver looks for a new primary at most every 500 ms; here it may look at once.
  uri = `${double.uriFor('faults')}&minHeartbeatFrequencyMS=10`;
  store = await openAnother();
});
afterEach(async () => {
  double.faults.reset();
  await Promise.all(opened.splice(0).map((each) => each.close()));
  await double.close();
});

/** A client that is closed after the test whatever its outcome. */
const opened: PrimaryStore[] = [];
async function openAnother(overrides: Partial<MongoParts> = {}): Promise<PrimaryStore> {
  const other = await openMongoStore({ ...parts, uri, ...overrides });
  opened.push(other);
  return other;
}

const aTicket = () => ({ hash: 't', kind: 'setup' as const, createdAt: 0, expiresAt: clock.now() + 60_000 });

const aClaim = () => ({ generation: 1, rtHash: 'rt-1', tokenSeq: 1, owner: 'me', ttlMs: 60_000 });

const { seq: _seq, size: _size, createdAt: _at, ...aMessage } = aChatMessage();

/** One write of every kind, each with the only right answer when it happened exactly once. */
async function everyWriteOnce(disturb: () => void): Promise<void> {
  disturb();
  expect(await store.users.insertFirst(aUser())).toBe('inserted');
  disturb();
  expect(await store.users.insert(aUser({ id: 'u2', subject: 'other' }))).toBe('inserted');
  expect(await store.users.count()).toBe(2);
  await store.tickets.issue(aTicket());
  disturb();
  expect(await store.tickets.consume('setup', 't', 0)).toBe(true);
  expect(await store.tickets.consume('setup', 't', 0)).toBe(false);
  disturb();
  const lease = await store.leases.acquire('k', 'refresh', 60_000);
  expect(lease).not.toBeNull();
  disturb();
  expect(await lease?.extend(60_000)).toBe(true);
  disturb();
  expect(await lease?.release()).toBe(true);
  disturb();
  expect((await store.attempts.hit('a', 60_000)).count).toBe(1);
  disturb();
  expect((await store.attempts.hit('a', 60_000)).count).toBe(2);
  disturb();
  expect(await store.credentials.insert(aCredential())).toBe(true);
  disturb();
  expect(await store.credentials.claim(aCredential().id, aClaim())).toMatchObject({
    tookOver: false,
    record: { claimSeq: 1, version: 2 },
  });
  disturb();
  const pair = { rtHash: 'rt-2', claimOwner: null };
  expect(
    await store.credentials.replace(aCredential().id, { generation: 1, rtHash: 'rt-1' }, pair),
  ).toMatchObject({
    ...pair,
    version: 3,
  });
  disturb();
  expect(await store.oauthFlows.insert(aFlow(), { perUser: 1, perTenant: 1 }, 0)).toEqual({
    kind: 'inserted',
  });
  disturb();
  expect(await store.oauthClients.insert(anOAuthClient())).toEqual(anOAuthClient());
  disturb();
  expect(await store.drafts.insert(aDraft(), 1)).toBe('inserted');
  disturb();
  expect(await store.drafts.consume('default', 'd1', 'u1', 2_000)).toBe(true);
  disturb();
  expect(await store.roles.insert(aRole())).toBe('inserted');
  disturb();
  expect(await store.roles.replace(aRole({ version: 2 }), 1)).toBe('replaced');
  disturb();
  await store.audit.append(aSegment());
  disturb();
  expect(await store.conversations.insert(aConversation(), 1)).toBe('inserted');
  disturb();
  expect(await store.conversations.putMessage(aMessage, 1, { maxMessages: 1, maxSize: 100 })).toBe('stored');
  expect(await store.raw.count('chatMessages')).toBe(1);
  disturb();
  expect(await store.blocks.insert(aBlock(), 1)).toBe('inserted');
  disturb();
  expect(await store.blocks.replace(aBlock({ version: 2 }), 1)).toBe('replaced');
  disturb();
  expect(await store.runs.insert(aRun(), 1)).toBe('inserted');
  disturb();
  expect(await store.runs.replace(aRun({ version: 2 }), 1)).toBe('replaced');
  disturb();
  await store.acl.change({ put: [anAclRow()], remove: ['none'] });
  expect(await store.acl.list()).toEqual([anAclRow()]);
  disturb();
  await store.raw.put('system', [{ name: 'n', value: 'v' }]);
  expect(await store.raw.count('system')).toBe(1);
}

const writes = ['insert', 'update', 'delete', 'findAndModify'] as const;

describe('an acknowledged write', () => {
  test('happens once when its answer is lost', () =>
    everyWriteOnce(() => {
      double.faults.reset();
      for (const command of writes) double.faults.dropConnections(1, { when: 'after', command });
    }));

  test('happens once when the connection ends before it', () =>
    everyWriteOnce(() => {
      double.faults.reset();
      for (const command of writes) double.faults.dropConnections(1, { when: 'before', command });
    }));

  test('happens once when the primary steps down before it', () =>
    everyWriteOnce(() => double.faults.notWritablePrimary(1)));

  test('whose answers are all lost is an outage, and done once at most', async () => {
    double.faults.dropConnections(2, { when: 'after', command: 'insert' });
    await expect(store.users.insert(aUser())).rejects.toBeInstanceOf(StoreUnavailableError);
    expect(await store.users.count()).toBe(1);
    expect(await store.users.insert(aUser())).toBe('taken');
  });

  test('was acknowledged by a majority, and is read back from one', async () => {
    await everyWriteOnce(() => undefined);
    await store.sessions.removeExpired(0);
    const seen = double.receivedCommands;
    const written = seen.filter(({ name }) => [...writes, 'createIndexes'].includes(name));
    const read = seen.filter(({ name }) => ['find', 'aggregate'].includes(name));
    expect(written.length).toBeGreaterThan(20);
    expect(read.length).toBeGreaterThan(4);
    for (const { command } of written) expect(command['writeConcern']).toEqual({ w: 'majority' });
    for (const { command } of read) expect(command['readConcern']).toEqual({ level: 'majority' });
  });
});

describe('an outage', () => {
  const askEverything = (of: PrimaryStore): (() => Promise<unknown>)[] => [
    () => of.ping(),
    () => of.users.insert(aUser()),
    () => of.users.findById('u1'),
    () => of.leases.acquire('k', 'refresh', 1_000),
    () => of.tickets.consume('setup', 't', 0),
    () => of.cache('c').get('k'),
    () => of.roles.list(),
    () => of.acl.change({ put: [anAclRow()], remove: [] }),
    () => of.apiKeys.findByHash('h', 0),
    () => of.audit.append(aSegment()),
    () => of.conversations.list('default', 'u1', { after: null, limit: 1 }),
    () => of.conversations.putMessage(aMessage, 1, { maxMessages: 1, maxSize: 100 }),
    () => of.blocks.find('default', 'b1'),
    () => of.drafts.find('default', 'd1'),
    () => of.runs.find('default', 'u1', 'r1'),
    () => of.system.heartbeat('w', 1_000),
  ];

  const allUnavailable = async (of: PrimaryStore) => {
    const failures = await Promise.all(
      askEverything(of).map((ask) => ask().catch((error: unknown) => error)),
    );
    for (const failure of failures) expect(failure).toBeInstanceOf(StoreUnavailableError);
  };

  test('without a primary is an error in time, and ends by itself', async () => {
    double.faults.notWritablePrimary('on');
    await allUnavailable(store);
    double.faults.notWritablePrimary('off');
    expect(await store.users.insert(aUser())).toBe('inserted');
  });

  test('of the whole server is an error in time, and ends by itself', async () => {
    double.faults.unreachable('on');
    await allUnavailable(store);
    await expect(openMongoStore({ ...parts, uri })).rejects.toBeInstanceOf(StoreUnavailableError);
    double.faults.unreachable('off');
    expect(await store.users.insert(aUser())).toBe('inserted');
  });

  test('keeps no change from being told afterwards', async () => {
    const other = await openAnother();
    const nextChange = new Promise((resolve) => store.changes.subscribe(resolve));
    double.faults.unreachable('on');
    await expect(store.ping()).rejects.toBeInstanceOf(StoreUnavailableError);
    double.faults.unreachable('off');
    await other.changes.publish({ topic: 'users', id: 'u1' });
    expect(await nextChange).toEqual({ topic: 'users', id: '*' });
  });
});

describe('time', () => {
  test('a lease ends by the clock of the store, whatever a replica believes', async () => {
    const ahead = await openAnother({ clock: createFakeClock(clock.now() + 3_600_000) });
    const lease = await store.leases.acquire('k', 'refresh', 60_000);
    expect(await ahead.leases.acquire('k', 'exchange', 60_000)).toBeNull();
    await clock.advance(59_999);
    expect(await ahead.leases.acquire('k', 'exchange', 60_000)).toBeNull();
    await clock.advance(1);
    expect(await lease?.extend(60_000)).toBe(false);
    expect(await lease?.release()).toBe(false);
    expect(await ahead.leases.acquire('k', 'exchange', 60_000)).not.toBeNull();
  });

  test('a ticket is over when the store says so, also for a clock that is behind', async () => {
    await store.tickets.issue(aTicket());
    expect(await store.tickets.isConsumable('setup', 't', 0)).toBe(true);
    await clock.advance(60_000);
    expect(await store.tickets.isConsumable('setup', 't', 0)).toBe(false);
    expect(await store.tickets.consume('setup', 't', 0)).toBe(false);
  });

  test('a replica whose clock is ahead does not take away another’s open ticket', async () => {
    await store.tickets.issue(aTicket());
    const issue = (hash: string) => {
      const createdAt = clock.now() + 3_600_000;
      return store.tickets.issue({ hash, kind: 'setup', createdAt, expiresAt: createdAt + 60_000 });
    };
    await issue('ahead');
    expect(await store.tickets.isConsumable('setup', 't', 0)).toBe(true);
    await clock.advance(60_000);
    await issue('later');
    expect(await store.raw.count('tickets')).toBe(2);
  });

  test('a silent gateway and a silent copy are forgotten by the clock of the store', async () => {
    await store.system.heartbeat('gateway', 60_000);
    await clock.advance(59_999);
    expect(await store.system.beginMaintenance('copy', 60_000)).toBe('refused');
    await clock.advance(1);
    expect(await store.system.beginMaintenance('copy', 60_000)).toBe('begun');
    await clock.advance(59_999);
    expect(await store.system.heartbeat('gateway', 60_000)).toBe('in_maintenance');
    await clock.advance(1);
    expect(await store.system.heartbeat('gateway', 60_000)).toBe('announced');
  });

  test('dead leases, windows, cache entries and sign-ins are swept away by the server', async () => {
    await store.leases.acquire('k', 'refresh', 1_000);
    await store.attempts.hit('k', 1_000);
    await store.cache('c').set('k', 'v', 1_000);
    await clock.advance(999);
    expect(double.removeExpired()).toBe(0);
    await clock.advance(61_000);
    expect(double.removeExpired()).toBe(3);
    const over = aFlow({ expiresAt: clock.now(), removeAt: clock.now() });
    await store.oauthFlows.insert(over, { perUser: 5, perTenant: 5 }, 0);
    await clock.advance(59_999);
    expect(double.removeExpired()).toBe(0);
    await clock.advance(1);
    expect(double.removeExpired()).toBe(1);
  });
});

describe('a lost lease', () => {
  test('can neither prolong nor end the one that followed it', async () => {
    const lost = await store.leases.acquire('k', 'refresh', 1_000);
    await clock.advance(1_000);
    const next = await store.leases.acquire('k', 'exchange', 60_000);
    expect(await lost?.extend(1)).toBe(false);
    expect(await lost?.release()).toBe(false);
    await clock.advance(59_999);
    expect(await store.leases.findHolder('k')).toEqual({ owner: next?.owner, purpose: 'exchange' });
    expect(await next?.extend(60_000)).toBe(true);
  });
});

describe('the first user', () => {
  test('an account made between the look and the insert comes first', async () => {
    const other = await openAnother();
    const held = double.faults.hold('insert');
    const first = store.users.insertFirst(aUser());
    await held.arrived;
    expect(await other.users.insert(aUser({ id: 'u2', subject: 'other' }))).toBe('inserted');
    held.release();
    expect(await first).toBe('not_first');
    expect(await store.users.findById('u1')).toBeNull();
  });

  test('accounts after the first are ordinary ones', async () => {
    expect(await store.users.insertFirst(aUser())).toBe('inserted');
    for (const id of ['u2', 'u3'])
      expect(await store.users.insert(aUser({ id, subject: id }))).toBe('inserted');
    expect(await store.users.insert(aUser({ id: 'u4', subject: 'u3' }))).toBe('taken');
    expect(await store.users.findById('u1')).toEqual(aUser());
    expect(await store.raw.page('users', null, 1)).toEqual([aUser()]);
  });

  test('a store filled by a copy has had its first user', async () => {
    await store.raw.put('users', [aUser()]);
    expect(await store.users.insertFirst(aUser({ id: 'u2', subject: 'other' }))).toBe('not_first');
  });
});

describe('the connection', () => {
  test('closes after what is in flight, once, and then refuses', async () => {
    const held = double.faults.hold('insert');
    const insert = store.users.insert(aUser());
    await held.arrived;
    const closed = Promise.all([store.close(), store.close()]);
    await expect(store.users.count()).rejects.toBeInstanceOf(StoreUnavailableError);
    held.release();
    expect(await insert).toBe('inserted');
    await closed;
    const again = await openAnother();
    expect(await again.users.count()).toBe(1);
  });

  test('touches its own collections alone, in the database of the URI or in `behalf`', async () => {
    const unnamed = await openAnother({ uri: double.uri });
    await unnamed.users.insert(aUser());
    const touched = double.receivedCommands.filter(({ name }) => name !== 'getMore');
    expect(new Set(touched.map(({ db }) => db))).toEqual(new Set(['faults', 'behalf']));
    for (const { name, command } of touched) expect(command[name]).toMatch(/^behalf_/);
  });

  test('an emptied database gets its indexes back before a gateway counts as announced', async () => {
    const { createConnection } = await import('mongoose');
    const connection = await createConnection(uri).asPromise();
    await connection.dropDatabase();
    await connection.close();
    expect(await store.system.heartbeat('gateway', 60_000)).toBe('announced');
    expect(await store.system.beginMaintenance('copy', 60_000)).toBe('refused');
    expect(await store.users.insert(aUser())).toBe('inserted');
    expect(await store.users.insert(aUser({ id: 'u2' }))).toBe('taken');
  });
});
