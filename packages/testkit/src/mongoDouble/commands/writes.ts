import { ObjectId } from 'bson';
import { compileFilter } from '../filter.ts';
import { manifest } from '../manifest.ts';
import { NOT_IMPLEMENTED, ServerError, failedToParse } from '../serverError.ts';
import { compileUpdate, copyDocument } from '../update.ts';
import { type Doc, checkStorable, isDoc, sameDocument } from '../values.ts';
import {
  type CommandContext,
  type Handler,
  assertKnownFields,
  assertNonEmptyArray,
  collectionNameOf,
} from './context.ts';
import { compileProjection, sortDocuments } from './reads.ts';

/** Runs the statements of a write. The first failure ends an ordered write. */
function runStatements(
  command: Doc,
  list: unknown[],
  run: (statement: unknown, index: number) => void,
): Doc[] {
  const ordered = command['ordered'] !== false;
  const writeErrors: Doc[] = [];
  for (const [index, statement] of list.entries()) {
    try {
      run(statement, index);
    } catch (error) {
      // An unsupported statement fails the whole command: as one of many write errors it could be overlooked.
      if (!(error instanceof ServerError) || error.code === NOT_IMPLEMENTED) throw error;
      writeErrors.push({ index, code: error.code, errmsg: error.message, ...error.details });
      if (ordered) break;
    }
  }
  return writeErrors;
}

function reply(result: Doc, writeErrors: Doc[]): Doc {
  return { ok: 1, ...result, ...(writeErrors.length > 0 ? { writeErrors } : {}) };
}

export const insert: Handler = (command, context) => {
  const collection = context.databases.ensure(context.db, collectionNameOf(command, 'insert'));
  let n = 0;
  const writeErrors = runStatements(
    command,
    assertNonEmptyArray(command['documents'], 'documents'),
    (statement, index) => {
      context.runOnce(index, () => {
        const doc = copyDocument(statement as Doc);
        const whole = { _id: '_id' in doc ? doc['_id'] : new ObjectId(), ...doc };
        checkStorable(whole);
        collection.put(whole, 'insert');
      });
      n += 1;
    },
  );
  return reply({ n }, writeErrors);
};

interface Updated {
  n: number;
  nModified: number;
  upsertedId: unknown;
}

export const update: Handler = (command, context) => {
  const target = collectionNameOf(command, 'update');
  const total = { n: 0, nModified: 0 };
  const upserted: Doc[] = [];
  const writeErrors = runStatements(
    command,
    assertNonEmptyArray(command['updates'], 'updates'),
    (input, index) => {
      const statement = assertKnownFields(input, manifest.updateStatement, 'an update');
      refuseNumberedMulti(context, statement['multi'] === true);
      const done = context.runOnce(index, () => updateOne(statement, target, context));
      total.n += done.n;
      total.nModified += done.nModified;
      if (done.upsertedId !== undefined) upserted.push({ index, _id: done.upsertedId });
    },
  );
  return reply({ ...total, ...(upserted.length > 0 ? { upserted } : {}) }, writeErrors);
};

function updateOne(statement: Doc, target: string, context: CommandContext): Updated {
  const collection = context.databases.ensure(context.db, target);
  const query = statement['q'];
  const matches = compileFilter(query, context.now);
  const multi = statement['multi'] === true;
  if (multi && isDoc(statement['u']) && !Object.keys(statement['u']).some((key) => key.startsWith('$'))) {
    throw new ServerError(9, 'FailedToParse', 'multi update is not supported for replacement-style update');
  }
  const change = compileUpdate(statement['u'], query as Doc, context.now);
  const found = collection.matching(matches, query).slice(0, multi ? undefined : 1);
  if (found.length === 0 && statement['upsert'] === true) {
    const made = change(null);
    collection.put(made, 'insert');
    return { n: 1, nModified: 0, upsertedId: made['_id'] };
  }
  let nModified = 0;
  for (const doc of found) {
    const after = change(doc);
    if (sameDocument(after, doc)) continue;
    collection.put(after, 'replace');
    nModified += 1;
  }
  return { n: found.length, nModified, upsertedId: undefined };
}

export const remove: Handler = (command, context) => {
  const collection = context.databases.find(context.db, collectionNameOf(command, 'delete'));
  let n = 0;
  const writeErrors = runStatements(
    command,
    assertNonEmptyArray(command['deletes'], 'deletes'),
    (input, index) => {
      const statement = assertKnownFields(input, manifest.deleteStatement, 'a delete');
      refuseNumberedMulti(context, statement['limit'] !== 1);
      const matches = compileFilter(statement['q'], context.now);
      n += context.runOnce(index, () => {
        const some = statement['limit'] === 1 ? 1 : undefined;
        const found = collection?.matching(matches, statement['q']).slice(0, some) ?? [];
        for (const doc of found) collection?.remove(doc);
        return found.length;
      });
    },
  );
  return reply({ n }, writeErrors);
};

function refuseNumberedMulti(context: CommandContext, multi: boolean): void {
  if (context.isRetryable && multi) {
    throw new ServerError(72, 'InvalidOptions', 'A write of many documents cannot be a retryable write');
  }
}

/** Finds and changes one document atomically. Leases and counters depend on this. */
export const findAndModify: Handler = (command, context) =>
  context.runOnce(0, () => findAndChange(command, context));

function findAndChange(command: Doc, context: CommandContext): Doc {
  const query = command['query'] ?? {};
  const matches = compileFilter(query, context.now);
  const project = compileProjection(command['fields']);
  const isRemoval = command['remove'] === true;
  if (isRemoval === (command['update'] !== undefined))
    throw failedToParse("Either 'update' or 'remove' must be given");
  if (isRemoval && (command['new'] === true || command['upsert'] === true)) {
    throw failedToParse("Cannot specify 'new' or 'upsert' together with 'remove'");
  }
  const collection = context.databases.ensure(context.db, collectionNameOf(command, 'findAndModify'));
  const found = sortDocuments(collection.matching(matches, query), command['sort'])[0];
  if (isRemoval) {
    if (found) collection.remove(found);
    return { ok: 1, lastErrorObject: { n: found ? 1 : 0 }, value: found ? project(found) : null };
  }

  const change = compileUpdate(command['update'], query as Doc, context.now);
  if (!found && command['upsert'] !== true) {
    return { ok: 1, lastErrorObject: { n: 0, updatedExisting: false }, value: null };
  }
  const after = change(found ?? null);
  if (!found) {
    collection.put(after, 'insert');
    const value = command['new'] === true ? project(after) : null;
    return { ok: 1, lastErrorObject: { n: 1, updatedExisting: false, upserted: after['_id'] }, value };
  }
  if (!sameDocument(after, found)) collection.put(after, 'replace');
  const value = project(command['new'] === true ? after : found);
  return { ok: 1, lastErrorObject: { n: 1, updatedExisting: true }, value };
}
