import { compileFilter } from '../filter.ts';
import { compileProjection, slicePage, sortDocuments } from '../shape.ts';
import { isDoc } from '../values.ts';
import { documentsOf, collectionNameOf, type Handler } from './context.ts';

export const find: Handler = (command, context) => {
  const name = collectionNameOf(command, 'find');
  const filter = command['filter'] ?? {};
  const matches = compileFilter(filter, context.now);
  const matching = context.databases.find(context.db, name)?.matching(matches, filter) ?? [];
  const project = compileProjection(command['projection']);
  const page = slicePage(sortDocuments(matching, command['sort']), command['skip'], command['limit']).map(
    project,
  );
  const single = command['singleBatch'] === true;
  return context.cursors.open(`${context.db}.${name}`, page, sizeOf(command['batchSize']), single);
};

export const getMore: Handler = (command, context) =>
  context.cursors.getMore(Number(command['getMore']), sizeOf(command['batchSize']));

export const killCursors: Handler = (command, context) => {
  const cursors = Array.isArray(command['cursors']) ? command['cursors'] : [];
  return { ok: 1, cursorsKilled: context.cursors.kill(cursors) };
};

export const count: Handler = (command, context) => {
  const docs = documentsOf(context.databases.find(context.db, collectionNameOf(command, 'count')));
  return { ok: 1, n: docs.filter(compileFilter(command['query'] ?? {}, context.now)).length };
};

export function batchSizeOf(cursor: unknown): number | undefined {
  return isDoc(cursor) ? sizeOf(cursor['batchSize']) : undefined;
}

function sizeOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
