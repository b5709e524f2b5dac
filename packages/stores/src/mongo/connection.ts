import { type Connection, createConnection, mongo } from 'mongoose';
import { StoreUnavailableError } from '../errors.ts';

const DEFAULT_DATABASE = 'behalf';

/**
 * What must never be lost is acknowledged by a majority, and read back from the primary as a majority knows it: an
 * election takes back neither. Every wait has an end, so an outage is an error and not a hang.
 */
export async function openConnection(uri: string, timeoutMs: number): Promise<Connection> {
  const connection = createConnection(uri, {
    ...(namesDatabase(uri) ? {} : { dbName: DEFAULT_DATABASE }),
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
    retryWrites: true,
    retryReads: true,
    writeConcern: { w: 'majority' },
    readConcern: { level: 'majority' },
    readPreference: 'primary',
    serverSelectionTimeoutMS: timeoutMs,
    connectTimeoutMS: timeoutMs,
    waitQueueTimeoutMS: timeoutMs,
    socketTimeoutMS: 2 * timeoutMs,
  });
  // Every call reports its own failure; an emitter without a listener would end the process.
  connection.on('error', () => undefined);
  try {
    return await connection.asPromise();
  } catch (error) {
    await connection.close().catch(() => undefined);
    throw isOutage(error) ? new StoreUnavailableError('mongo', error) : error;
  }
}

/** The driver's own default would be a database called `test`. */
function namesDatabase(uri: string): boolean {
  return /^mongodb(\+srv)?:\/\/[^/]*\/[^?]/.test(uri);
}

/** What every command of the store goes through: failures get one name, and closing waits for what is in flight. */
export interface CommandRunner {
  run<T>(work: () => Promise<T>): Promise<T>;
  /**
   * For upserts by `_id`. Two that meet on a missing document can both try to insert it, and MongoDB does not promise
   * to settle that itself; whoever loses finds the document when it tries again.
   */
  runUpsert<T>(work: () => Promise<T>): Promise<T>;
  /** No more work enters; resolves when all that did has ended. */
  close(): Promise<void>;
}

const MAX_UPSERT_ATTEMPTS = 5;

export function createCommandRunner(): CommandRunner {
  const inFlight = new Set<Promise<unknown>>();
  let closed = false;

  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closed) throw new StoreUnavailableError('mongo', new Error('The store is closed'));
    const promise = work();
    inFlight.add(promise);
    try {
      return await promise;
    } catch (error) {
      throw isOutage(error) ? new StoreUnavailableError('mongo', error) : error;
    } finally {
      inFlight.delete(promise);
    }
  };

  return {
    run,
    async runUpsert(work) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await run(work);
        } catch (error) {
          if (!isDuplicateKey(error) || attempt === MAX_UPSERT_ATTEMPTS) throw error;
        }
      }
    },
    async close() {
      closed = true;
      await Promise.allSettled(inFlight);
    },
  };
}

/** The unique index said no. */
export function isDuplicateKey(error: unknown): error is mongo.MongoServerError {
  return error instanceof mongo.MongoServerError && error.code === 11000;
}

/** Which unique index said no, by one of its fields. */
export function isDuplicateKeyOf(error: unknown, field: string): boolean {
  const pattern: unknown = isDuplicateKey(error) ? error['keyPattern'] : undefined;
  return typeof pattern === 'object' && pattern !== null && Object.hasOwn(pattern, field);
}

/** Stepping down, shutting down, being elected: the server is there and cannot answer now. */
const UNAVAILABLE_CODES: readonly unknown[] = [
  10107, 13435, 11602, 13436, 189, 91, 11600, 262, 7, 6, 89, 9001, 64,
];

/** Errors of the pool and of mongoose that are exported under no class we could compare with. */
const UNEXPORTED_ERROR_NAMES = [
  'MongoWaitQueueTimeoutError',
  'MongoPoolClosedError',
  'MongooseServerSelectionError',
  'DisconnectedError',
];

/** True when nothing is known about the outcome; false when the server judged the command itself. */
function isOutage(error: unknown): boolean {
  if (error instanceof mongo.MongoWriteConcernError) return true;
  // A bulk write puts what befell it into an error of the server's kind; a code is there only if a server gave one.
  if (error instanceof mongo.MongoBulkWriteError && (typeof error.code !== 'number' || error.err))
    return true;
  if (error instanceof mongo.MongoServerError) return UNAVAILABLE_CODES.includes(error.code);
  return (
    error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoSystemError ||
    error instanceof mongo.MongoNotConnectedError ||
    error instanceof mongo.MongoTopologyClosedError ||
    error instanceof mongo.MongoClientClosedError ||
    (error instanceof Error && UNEXPORTED_ERROR_NAMES.includes(error.name))
  );
}
