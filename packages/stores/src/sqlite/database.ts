import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { sleep, type Clock, type Random } from '@behalf/kernel';
import Libsql from 'libsql';
import { StoreUnavailableError } from '../errors.ts';
import { assertStorageFormat, STORAGE_FORMAT } from '../storageFormat.ts';
import { schema } from './schema.ts';

export type Param = string | number | null;
export type Row = Record<string, unknown>;

/** What we use of the driver: its own types do not know statements without bound parameter types. */
interface Driver {
  exec(sql: string): void;
  prepare(sql: string): {
    // As an array: a single null beside no other would be taken for an object of named parameters.
    get(params: Param[]): unknown;
    all(params: Param[]): unknown[];
    run(params: Param[]): { changes: number };
  };
  readonly inTransaction: boolean;
  close(): void;
}

export interface Sqlite {
  get(sql: string, ...params: Param[]): Row | undefined;
  all(sql: string, ...params: Param[]): Row[];
  /** Runs `work` alone among all processes, durable when it resolves; what it throws undoes it. */
  write<T>(work: (tx: Transaction) => T): Promise<T>;
  /** Writes that wait for another process's lock finish first, or fail at their deadline; later ones are refused. */
  close(): Promise<void>;
}

export interface Transaction {
  get(sql: string, ...params: Param[]): Row | undefined;
  /** How many rows changed. */
  run(sql: string, ...params: Param[]): number;
}

/** The driver is synchronous: every millisecond it waits for another process's lock stops every user of this one. */
const BUSY_TIMEOUT_MS = 20;
/** So a busy database is asked again from a timer, for this long. */
const BUSY_DEADLINE_MS = 5_000;

export async function openDatabase(file: string, parts: { clock: Clock; random: Random }): Promise<Sqlite> {
  // Created by us with 0600, because SQLite would create it for everybody to read.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  else chmodSync(file, 0o600);
  const db = new Libsql(file, { timeout: BUSY_TIMEOUT_MS }) as unknown as Driver;
  const sqlite = createSqlite(db, parts);
  try {
    await retryWhileBusy(parts, () => db.exec('PRAGMA journal_mode = WAL'));
    // FULL: an acknowledged write survives a power cut, not only a killed process.
    db.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    await ensureSchema(sqlite, file);
    return sqlite;
  } catch (error) {
    await sqlite.close();
    throw error;
  }
}

function createSqlite(db: Driver, parts: { clock: Clock; random: Random }): Sqlite {
  const statements = new Map<string, ReturnType<Driver['prepare']>>();
  const activeWrites = new Set<Promise<unknown>>();
  let closed = false;
  let closePromise: Promise<void> | null = null;
  const prepareCached = (sql: string) => {
    if (closed) throw new StoreUnavailableError('sqlite', new Error('The store is closed'));
    const statement = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const get = (sql: string, ...params: Param[]): Row | undefined => {
    const row = prepareCached(sql).get(params) as Row | undefined;
    // The driver adds its timing to single rows.
    if (row) delete row['_metadata'];
    return row;
  };
  const tx: Transaction = { get, run: (sql, ...params) => prepareCached(sql).run(params).changes };
  const runTransaction = <T>(work: (tx: Transaction) => T): T => {
    db.exec('BEGIN IMMEDIATE');
    try {
      const result = work(tx);
      db.exec('COMMIT');
      return result;
    } catch (error) {
      if (db.inTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };

  return {
    get,
    all: (sql, ...params) => prepareCached(sql).all(params) as Row[],
    async write(work) {
      if (closePromise) throw new StoreUnavailableError('sqlite', new Error('The store is closed'));
      const write = retryWhileBusy(parts, () => runTransaction(work));
      activeWrites.add(write);
      try {
        return await write;
      } finally {
        activeWrites.delete(write);
      }
    },
    close() {
      closePromise ??= Promise.allSettled(activeWrites).then(() => {
        closed = true;
        statements.clear();
        db.close();
      });
      return closePromise;
    },
  };
}

/** Repeats what met another process's lock, with jitter, without ever blocking the event loop for long. */
async function retryWhileBusy<T>(
  { clock, random }: { clock: Clock; random: Random },
  work: () => T,
): Promise<T> {
  const deadline = clock.now() + BUSY_DEADLINE_MS;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (clock.now() >= deadline) throw new StoreUnavailableError('sqlite', error);
      await sleep(clock, 2 + random.uniform() * 20);
    }
  }
}

function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED');
}

/** True when a unique index refused the row. */
export function isUniqueViolation(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}

/** Creates the tables of an empty database and refuses one of another format, in one transaction across processes. */
async function ensureSchema(sqlite: Sqlite, file: string): Promise<void> {
  await sqlite.write((tx) => {
    const { user_version: format } = tx.get('PRAGMA user_version') as { user_version: number };
    if (format === STORAGE_FORMAT) return;
    const isEmpty = tx.get('SELECT 1 FROM sqlite_master') === undefined;
    if (format !== 0 || !isEmpty) {
      assertStorageFormat(format === 0 ? null : format, {
        subject: `The data directory ${dirname(file)}`,
        remedy: 'Start with an empty BEHALF_DATA_DIR.',
      });
    }
    for (const statement of schema) tx.run(statement);
    tx.run(`PRAGMA user_version = ${STORAGE_FORMAT}`);
  });
}
