import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemRandom } from '@behalf/kernel';
import { createFakeClock, eventually } from '@behalf/testkit';
import {
  aUser,
  primarySuites,
  processesSuite,
  startOpeningProcess,
  vaultProcessesSuite,
} from '@behalf/testkit/suites';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StoreUnavailableError } from '../errors.ts';
import { STORAGE_FORMAT, StorageFormatError } from '../storageFormat.ts';
import { openDatabase } from './database.ts';
import { openSqliteStore } from './openSqliteStore.ts';

const parts = { clock: systemClock, random: systemRandom };
let dir = '';
let files = 0;
const newFile = () => join(dir, `${(files += 1)}.db`);

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'behalf-sqlite-'));
});
afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

let last = '';
const open = () => openSqliteStore({ ...parts, file: (last = newFile()), pollMs: 20 });

primarySuites('sqlite', open, () => openSqliteStore({ ...parts, file: last, pollMs: 20 }));
processesSuite('sqlite', async () => ({ kind: 'sqlite', file: newFile() }), { primary: true });
vaultProcessesSuite('sqlite', async () => ({ kind: 'sqlite', file: newFile() }));

describe('the SQLite file', () => {
  test('is readable by its owner alone', async () => {
    const file = newFile();
    const store = await openSqliteStore({ ...parts, file });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await store.close();
  });

  test('keeps everything over a restart', async () => {
    const file = newFile();
    const first = await openSqliteStore({ ...parts, file });
    await first.users.insert(aUser());
    await first.close();
    await first.close();
    const second = await openSqliteStore({ ...parts, file });
    expect(await second.users.findById('u1')).toEqual(aUser());
    await second.close();
  });

  test('pairs that it could not take wait beside it, for us alone to read, and for a day', async () => {
    const file = newFile();
    const clock = createFakeClock();
    const day = 24 * 60 * 60 * 1000;
    const store = await openSqliteStore({ ...parts, clock, file, pollMs: 2 * day });
    const folder = `${file}-pending-writes`;
    expect(existsSync(folder)).toBe(false);
    await store.pendingWrites.put('["default","user:ada"]', 'v1.pair');
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const names = readdirSync(folder);
    expect(names).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.[0-9a-f]{64}$/)]);
    expect((await stat(join(folder, names[0]!))).mode & 0o777).toBe(0o600);
    await writeFile(join(folder, 'temporary.of-one-that-died'), 'v1.p');
    await utimes(join(folder, 'temporary.of-one-that-died'), clock.now() / 1000, clock.now() / 1000);
    await clock.advance(day - 1);
    expect(await store.pendingWrites.find('["default","user:ada"]')).toBe('v1.pair');
    await clock.advance(1);
    expect(await store.pendingWrites.find('["default","user:ada"]')).toBeNull();
    await store.pendingWrites.put('another', 'v1.other');
    expect(readdirSync(folder)).toHaveLength(1);
    await store.close();
  });

  test('a pair is kept whatever else lies beside it', async () => {
    const file = newFile();
    const clock = createFakeClock();
    const store = await openSqliteStore({ ...parts, clock, file });
    const folder = `${file}-pending-writes`;
    // As old as can be, and no file that could be removed.
    await mkdir(join(folder, 'somebody’s folder'), { recursive: true });
    await utimes(join(folder, 'somebody’s folder'), 0, 0);
    await store.pendingWrites.put('c1', 'v1.pair');
    expect(await store.pendingWrites.find('c1')).toBe('v1.pair');
    await store.close();
  });

  test('what another process changed is heard within 250 ms', async () => {
    const file = newFile();
    const clock = createFakeClock();
    const here = await openSqliteStore({ ...parts, clock, file });
    const there = await openSqliteStore({ ...parts, file });
    const received: string[] = [];
    here.changes.subscribe(({ topic }) => received.push(topic));
    await there.changes.publish({ topic: 'credentials', id: 'c1' });
    expect(received).toEqual([]);
    await clock.advance(250);
    expect(received).toEqual(['credentials']);
    await here.close();
    await there.close();
  });

  test('records its storage format, and opens again', async () => {
    const file = newFile();
    await (await openSqliteStore({ ...parts, file })).close();
    const db = await openRaw(file);
    expect(db.prepare('PRAGMA user_version').get()).toMatchObject({ user_version: STORAGE_FORMAT });
    db.close();
    await (await openSqliteStore({ ...parts, file })).close();
  });

  const refused: [string, string, string][] = [
    [
      'of an earlier storage format',
      'PRAGMA user_version = 10',
      'uses storage format 10 of an earlier preview',
    ],
    [
      'without a format number',
      'PRAGMA user_version = 0',
      'uses the unnumbered storage format of an earlier preview',
    ],
    ['of a newer storage format', 'PRAGMA user_version = 101', 'was written by a newer version of Behalf'],
  ];
  for (const [which, statement, reason] of refused) {
    test(`a database ${which} is refused and stays unchanged`, async () => {
      const file = newFile();
      const db = await openRaw(file);
      db.exec(`CREATE TABLE users (id TEXT); ${statement}`);
      const opening = openSqliteStore({ ...parts, file });
      await expect(opening).rejects.toBeInstanceOf(StorageFormatError);
      await expect(opening).rejects.toThrow(`The data directory ${dir} ${reason}`);
      expect(db.prepare('SELECT name FROM sqlite_master').all()).toMatchObject([{ name: 'users' }]);
      db.close();
    });
  }

  test('a file that is refused is not kept open', async () => {
    const file = newFile();
    await writeFile(file, 'no database '.repeat(500));
    await expect(openSqliteStore({ ...parts, file })).rejects.toThrow();
    expect(openFiles()).not.toContain(file);
    const store = await open();
    if (existsSync(DESCRIPTORS)) expect(openFiles()).toContain(last);
    await store.close();
  });

  test('a process that finds the file locked waits for it instead of ending', async () => {
    const file = newFile();
    await (await openDatabase(file, parts)).close();
    const blocker = await openBlocker(file);
    const child = startOpeningProcess(file);
    try {
      await eventually('the process to start', () => child.output().includes('opening'));
      const until = Date.now() + 400;
      await eventually('the lock to be met', () => child.code() !== null || Date.now() > until);
      expect({ said: child.output(), code: child.code() }).toEqual({ said: 'opening\n', code: null });
      await blocker.release();
      await eventually('the process to end', () => child.code() !== null);
      expect({ said: child.output(), code: child.code() }).toEqual({ said: 'opening\nopened\n', code: 0 });
    } finally {
      await child.kill();
    }
  });

  test('a write that waits for a lock finishes before the store closes', async () => {
    const file = newFile();
    const store = await openSqliteStore({ ...parts, file });
    const blocker = await openBlocker(file);
    let closed = false;
    const insert = store.users.insert(aUser());
    const closing = store.close().then(() => (closed = true));
    await expect(store.users.insert(aUser({ id: 'u2', subject: 'late' }))).rejects.toBeInstanceOf(
      StoreUnavailableError,
    );
    expect(closed).toBe(false);
    await blocker.release();
    expect(await insert).toBe('inserted');
    await closing;
    await store.close();
    await expect(store.users.findById('u1')).rejects.toBeInstanceOf(StoreUnavailableError);
    const again = await openSqliteStore({ ...parts, file });
    expect(await again.users.count()).toBe(1);
    await again.close();
  });

  test('a busy file is asked again from a timer and the event loop goes on', async () => {
    const file = newFile();
    const holder = await openDatabase(file, parts);
    const store = await openSqliteStore({ ...parts, file });
    holder.get('SELECT 1');
    // A transaction held open by another connection, as a slow process would.
    const blocker = await openBlocker(file);
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 5);
    const insert = store.users.insert(aUser());
    await eventually('the loop to go on while the file is locked', () => ticks >= 10);
    await blocker.release();
    expect(await insert).toBe('inserted');
    clearInterval(ticking);
    await store.close();
    await holder.close();
  });
});

const DESCRIPTORS = '/proc/self/fd';

/** What this process has open, where the system says so. */
function openFiles(): string[] {
  if (!existsSync(DESCRIPTORS)) return [];
  return readdirSync(DESCRIPTORS).flatMap((name) => {
    try {
      return [readlinkSync(join(DESCRIPTORS, name))];
    } catch {
      // Of the listing itself, and gone with it.
      return [];
    }
  });
}

async function openRaw(file: string) {
  const { default: Libsql } = await import('libsql');
  return new Libsql(file, { timeout: 20 });
}

async function openBlocker(file: string): Promise<{ release(): Promise<void> }> {
  const db = await openRaw(file);
  db.exec('BEGIN IMMEDIATE');
  return {
    async release() {
      db.exec('COMMIT');
      db.close();
    },
  };
}
