import { mongo } from 'mongoose';

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
export function isOutage(error: unknown): boolean {
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
