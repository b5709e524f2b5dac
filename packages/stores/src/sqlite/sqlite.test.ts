import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemRandom } from '@behalf/kernel';
import { createFakeClock, eventually } from '@behalf/testkit';
import {
  aCredential,
  aSession,
  aStoredServer,
  aUser,
  primarySuites,
  processesSuite,
  startOpening,
  vaultProcessesSuite,
} from '@behalf/testkit/suites';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StoreUnavailableError } from '../errors.ts';
import { openDatabase } from './database.ts';
import { openSqliteStore } from './index.ts';
import { migrations } from './migrations.ts';

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

  test('of an earlier version keeps its records and gets what they lacked', async () => {
    const file = newFile();
    const { default: Libsql } = await import('libsql');
    const old = new Libsql(file);
    for (const statement of migrations.slice(0, 3).flat()) old.exec(statement);
    old.exec(`PRAGMA user_version = 3;
        INSERT INTO users VALUES ('u1', 'default', 'local', 'ada@example.com', 'ada@example.com', 'Ada', 'ADMIN',
          'v1.sealed', 1000, 1000);
        INSERT INTO sessions VALUES ('h1', 'u1', 'default', 1000, 9000000000000);
        INSERT INTO servers VALUES ('s1', 'default', 'my server', 'my_server', 'u1', 4, 'v1.sealed', 1000, 2000,
          'u2');`);
    old.close();
    const store = await openSqliteStore({ ...parts, file });
    const user = aUser({ role: 'ADMIN', passwordSealed: 'v1.sealed' });
    expect(await store.users.findById('u1')).toEqual(user);
    expect(await store.users.countWithRole('default', 'ADMIN')).toBe(1);
    expect(await store.sessions.list('u1', 0)).toEqual([aSession()]);
    expect(await store.servers.list()).toEqual([
      aStoredServer({
        version: 4,
        updatedAt: 2_000,
        updatedBy: 'u2',
        securedBy: 'u2',
        securedAt: 2_000,
        securedHash: '',
      }),
    ]);
    await store.close();
  });

  test('tokens of sign-ins of an earlier version, which open no more, are gone', async () => {
    const file = newFile();
    const { default: Libsql } = await import('libsql');
    const old = new Libsql(file);
    for (const statement of migrations.slice(0, 5).flat()) old.exec(statement);
    old.exec(`PRAGMA user_version = 5;
        INSERT INTO credentials VALUES ('c1', 'default', 'user:u1', '@login', 'login', 'hash', 'v1.sealed', NULL,
          1000, 1000);`);
    old.close();
    const store = await openSqliteStore({ ...parts, file });
    expect(await store.raw.count('credentials')).toBe(0);
    expect(await store.credentials.insert(aCredential())).toBe(true);
    expect(await store.credentials.findById(aCredential().id)).toEqual(aCredential());
    await store.close();
  });

  test('pairs that it could not take wait beside it, for us alone to read, and for a day', async () => {
    const file = newFile();
    const clock = createFakeClock();
    const day = 24 * 60 * 60 * 1000;
    const store = await openSqliteStore({ ...parts, clock, file, pollMs: 2 * day });
    const folder = `${file}-orphans`;
    expect(existsSync(folder)).toBe(false);
    await store.orphans.put('["default","user:ada"]', 'v1.pair');
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const names = readdirSync(folder);
    expect(names).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.[0-9a-f]{64}$/)]);
    expect((await stat(join(folder, names[0]!))).mode & 0o777).toBe(0o600);
    await writeFile(join(folder, 'draft of one that died'), 'v1.p');
    await utimes(join(folder, 'draft of one that died'), clock.now() / 1000, clock.now() / 1000);
    await clock.advance(day - 1);
    expect(await store.orphans.find('["default","user:ada"]')).toBe('v1.pair');
    await clock.advance(1);
    expect(await store.orphans.find('["default","user:ada"]')).toBeNull();
    await store.orphans.put('another', 'v1.other');
    expect(readdirSync(folder)).toHaveLength(1);
    await store.close();
  });

  test('a pair is kept whatever else lies beside it', async () => {
    const file = newFile();
    const clock = createFakeClock();
    const store = await openSqliteStore({ ...parts, clock, file });
    const folder = `${file}-orphans`;
    // As old as can be, and no file that could be removed.
    await mkdir(join(folder, 'somebody’s folder'), { recursive: true });
    await utimes(join(folder, 'somebody’s folder'), 0, 0);
    await store.orphans.put('c1', 'v1.pair');
    expect(await store.orphans.find('c1')).toBe('v1.pair');
    await store.close();
  });

  test('what another process changed is heard within 250 ms', async () => {
    const file = newFile();
    const clock = createFakeClock();
    const here = await openSqliteStore({ ...parts, clock, file });
    const there = await openSqliteStore({ ...parts, file });
    const heard: string[] = [];
    here.changes.subscribe(({ topic }) => heard.push(topic));
    await there.changes.publish({ topic: 'credentials', id: 'c1' });
    expect(heard).toEqual([]);
    await clock.advance(250);
    expect(heard).toEqual(['credentials']);
    await here.close();
    await there.close();
  });

  test('of a newer version is refused, untouched', async () => {
    const file = newFile();
    const db = await openDatabase(file, parts);
    await db.write((tx) => tx.run('PRAGMA user_version = 99'));
    await db.close();
    await expect(openSqliteStore({ ...parts, file })).rejects.toThrow(/newer Behalf/);
  });

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
    const child = startOpening(file);
    try {
      await eventually('the process to start', () => child.said().includes('opening'));
      const until = Date.now() + 400;
      await eventually('the lock to be met', () => child.code() !== null || Date.now() > until);
      expect({ said: child.said(), code: child.code() }).toEqual({ said: 'opening\n', code: null });
      await blocker.release();
      await eventually('the process to end', () => child.code() !== null);
      expect({ said: child.said(), code: child.code() }).toEqual({ said: 'opening\nopened\n', code: 0 });
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

async function openBlocker(file: string): Promise<{ release(): Promise<void> }> {
  const { default: Libsql } = await import('libsql');
  const db = new Libsql(file, { timeout: 20 });
  db.exec('BEGIN IMMEDIATE');
  return {
    async release() {
      db.exec('COMMIT');
      db.close();
    },
  };
}
