import { createConnection, type Connection } from 'mongoose';
import { StoreUnavailableError } from '../errors.ts';
import { isOutage } from './failures.ts';

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
