import { Binary } from 'bson';
import type { Collection, Databases } from '../collections.ts';
import { type CommandName, manifest } from '../manifest.ts';
import { ServerError, badValue, failedToParse, notInManifest } from '../serverError.ts';
import { type Doc, isDoc } from '../values.ts';
import type { Cursors } from './reads.ts';

/** The environment of one command. */
export interface CommandContext {
  readonly db: string;
  readonly databases: Databases;
  readonly cursors: Cursors;
  /** The time of the command, which `$$NOW` returns. */
  readonly now: Date;
  readonly runOnce: RunOnce;
  readonly isRetryable: boolean;
}

export type Handler = (command: Doc, context: CommandContext) => Doc;

/** The collection that the first field of a command names. */
export function collectionNameOf(command: Doc, name: string): string {
  const target = command[name];
  if (typeof target !== 'string' || target === '') throw badValue(`${name} needs the name of a collection`);
  return target;
}

export function documentsOf(collection: Collection | undefined): Doc[] {
  return collection?.all() ?? [];
}

/** Rejects fields of a sub-document that the manifest does not list. */
export function assertKnownFields(doc: unknown, allowed: readonly string[], location: string): Doc {
  if (!isDoc(doc)) throw badValue(`${location} must be a document`);
  for (const field of Object.keys(doc)) {
    if (!allowed.includes(field)) throw notInManifest(`'${field}' in ${location}`);
  }
  return doc;
}

export function assertNonEmptyArray(value: unknown, location: string): unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw badValue(`${location} must be a nonempty array`);
  return value;
}

/** Runs a statement of a retryable write once. A retry returns the first result. */
type RunOnce = <T>(statement: number, run: () => T) => T;

interface SessionWrites {
  txnNumber: number;
  results: Map<number, unknown>;
}

/** Retryable writes: the latest transaction number of a session and the results of its statements. */
interface Retries {
  runOnceFor(name: CommandName, command: Doc): RunOnce;
  endSessions(sessions: readonly unknown[]): void;
}

export function createRetries(): Retries {
  const sessions = new Map<string, SessionWrites>();

  return {
    runOnceFor(name, command) {
      const txnNumber = command['txnNumber'];
      if (txnNumber === undefined) return (_statement, run) => run();
      const key = sessionKey(command['lsid']);
      if (key === null || typeof txnNumber !== 'number') throw failedToParse('txnNumber needs a session');
      if (!(manifest.retryable as readonly string[]).includes(name)) {
        throw new ServerError(50768, 'NotARetryableWriteCommand', `${name} cannot carry a txnNumber`);
      }
      const known = sessions.get(key);
      if (known && txnNumber < known.txnNumber) {
        const text = `Cannot start with transaction number ${txnNumber}: the session is at ${known.txnNumber}`;
        throw new ServerError(225, 'TransactionTooOld', text);
      }
      const writes =
        known?.txnNumber === txnNumber ? known : { txnNumber, results: new Map<number, unknown>() };
      sessions.set(key, writes);
      return <T>(statement: number, run: () => T): T => {
        // A failed statement changed nothing and is not recorded: its retry runs again, as on a real server.
        if (!writes.results.has(statement)) writes.results.set(statement, run());
        return writes.results.get(statement) as T;
      };
    },
    endSessions(endedSessions) {
      for (const session of endedSessions) {
        const key = sessionKey(session);
        if (key !== null) sessions.delete(key);
      }
    },
  };
}

function sessionKey(lsid: unknown): string | null {
  return isDoc(lsid) && lsid['id'] instanceof Binary ? lsid['id'].toString('hex') : null;
}
