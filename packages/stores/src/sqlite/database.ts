import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { sleep, type Clock, type Random } from '@behalf/kernel';
import Libsql from 'libsql';
import { StoreUnavailableError } from '../errors.ts';
import { assertStorageFormat, STORAGE_FORMAT } from '../storageFormat.ts';
import { schema } from './schema.ts';

export type Param = string | number | null;
export type Row = Record<string, unknown>;

/** The part of the driver that we use. Its own types do not cover statements without bound parameter types. */
interface Driver {
  exec(sql: string): void;
  prepare(sql: string): {
    // As an array, because the driver reads a single null as an object of named parameters.
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
  /** Runs `work` exclusively across all processes. Durable when it resolves; rolled back when `work` throws. */
  write<T>(work: (tx: Transaction) => T): Promise<T>;
  /** Writes that wait for a lock complete or fail at their deadline. Later writes are refused. */
  close(): Promise<void>;
}

export interface Transaction {
  get(sql: string, ...params: Param[]): Row | undefined;
  /** Returns the number of changed rows. */
  run(sql: string, ...params: Param[]): number;
}

/**
 * The driver is synchronous: waiting for the lock of another process blocks the event loop. So the wait is
 * short.
 */
const BUSY_TIMEOUT_MS = 20;
/** A busy database is retried from a timer for this long. */
const BUSY_DEADLINE_MS = 5_000;

export async function openDatabase(file: string, parts: { clock: Clock; random: Random }): Promise<Sqlite> {
  // Created with mode 0600, because SQLite would create a world-readable file.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  else chmodSync(file, 0o600);
  const db = new Libsql(file, { timeout: BUSY_TIMEOUT_MS }) as unknown as Driver;
  const sqlite = createSqlite(db, parts);
  try {
    await retryWhileBusy(parts, () => db.exec('PRAGMA journal_mode = WAL'));
    // FULL: a committed write survives a power failure, not only a killed process.
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
    // The driver adds timing data to single rows.
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

/**
 * Repeats an operation that met the lock of another process, with jitter and without blocking the event loop.
 */
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

/** True if a unique index rejected the row. */
export function isUniqueViolation(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}

/** Creates the tables of an empty database and refuses another format, in one transaction across processes. */
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
