import { compileFilter } from '../filter.ts';
import { failedToParse } from '../serverError.ts';
import { compileProjection, sortDocuments } from '../shape.ts';
import { compileUpdate } from '../update.ts';
import { sameDocument, type Doc } from '../values.ts';
import { collectionNameOf, type CommandContext, type Handler } from './context.ts';

/** One document, found and changed as one step: what leases and counters stand on. */
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
