import { type Connection, createConnection, mongo } from 'mongoose';
import { StoreUnavailableError } from '../errors.ts';

const DEFAULT_DATABASE = 'behalf';

/**
 * Writes that must not be lost are acknowledged by a majority, and reads come from the primary with majority
 * concern, so an election reverts neither. Every wait has a deadline: an outage is an error, not a hang.
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
  // Every call reports its own error. An emitter without a listener would end the process.
  connection.on('error', () => undefined);
  try {
    return await connection.asPromise();
  } catch (error) {
    await connection.close().catch(() => undefined);
    throw isOutage(error) ? new StoreUnavailableError('mongo', error) : error;
  }
}

/** Without a name the driver would use a database named `test`. */
function namesDatabase(uri: string): boolean {
  return /^mongodb(\+srv)?:\/\/[^/]*\/[^?]/.test(uri);
}

/**
 * Runs every command of the store: maps outages to one error class, and closing waits for commands in flight.
 */
export interface CommandRunner {
  run<T>(work: () => Promise<T>): Promise<T>;
  /**
   * For upserts by `_id`. Two upserts of a missing document can both try to insert it, and MongoDB does not
   * guarantee to resolve the conflict. The losing upsert runs again and finds the document.
   */
  runUpsert<T>(work: () => Promise<T>): Promise<T>;
  /** Rejects new commands and resolves when all commands in flight have ended. */
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

/** A unique index rejected the document. */
export function isDuplicateKey(error: unknown): error is mongo.MongoServerError {
  return error instanceof mongo.MongoServerError && error.code === 11000;
}

/** Whether the unique index that rejected the document contains this field. */
export function isDuplicateKeyOf(error: unknown, field: string): boolean {
  const pattern: unknown = isDuplicateKey(error) ? error['keyPattern'] : undefined;
  return typeof pattern === 'object' && pattern !== null && Object.hasOwn(pattern, field);
}

/** Codes of a server that is stepping down, shutting down or being elected: reachable, but unable to answer. */
const UNAVAILABLE_CODES: readonly unknown[] = [
  10107, 13435, 11602, 13436, 189, 91, 11600, 262, 7, 6, 89, 9001, 64,
];

/** Names of pool and mongoose errors whose classes are not exported. */
const UNEXPORTED_ERROR_NAMES = [
  'MongoWaitQueueTimeoutError',
  'MongoPoolClosedError',
  'MongooseServerSelectionError',
  'DisconnectedError',
];

/** True if the outcome of the command is unknown; false if the server rejected the command itself. */
function isOutage(error: unknown): boolean {
  if (error instanceof mongo.MongoWriteConcernError) return true;
  // A bulk write wraps connection errors in a server error class. Only a server error carries a numeric code.
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
