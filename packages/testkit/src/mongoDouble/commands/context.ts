import type { Collection } from '../collection.ts';
import type { Cursors } from '../cursors.ts';
import type { Databases } from '../databases.ts';
import type { RunOnce } from '../retries.ts';
import { badValue, notInManifest } from '../serverError.ts';
import { isDoc, type Doc } from '../values.ts';

/** What one command works with. */
export interface CommandContext {
  readonly db: string;
  readonly databases: Databases;
  readonly cursors: Cursors;
  /** The command's one instant: what `$$NOW` is. */
  readonly now: Date;
  readonly runOnce: RunOnce;
  readonly isRetryable: boolean;
}

export type Handler = (command: Doc, context: CommandContext) => Doc;

/** The collection a command names in its first field. */
export function collectionNameOf(command: Doc, name: string): string {
  const target = command[name];
  if (typeof target !== 'string' || target === '') throw badValue(`${name} needs the name of a collection`);
  return target;
}

export function documentsOf(collection: Collection | undefined): Doc[] {
  return collection?.all() ?? [];
}

/** Refuses a field of a sub-document that the manifest does not list. */
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
