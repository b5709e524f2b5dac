import { badValue, ServerError } from '../serverError.ts';
import type { Doc } from '../values.ts';
import { compileFilter } from '../filter.ts';
import { assertNonEmptyArray, collectionNameOf, type CommandContext, type Handler } from './context.ts';
import { batchSizeOf } from './reads.ts';

export const createIndexes: Handler = (command, context) => {
  const target = collectionNameOf(command, 'createIndexes');
  const isCreated = context.databases.find(context.db, target) === undefined;
  const collection = context.databases.ensure(context.db, target);
  const numIndexesBefore = collection.indexes().length;
  for (const spec of assertNonEmptyArray(command['indexes'], 'indexes')) collection.createIndex(spec);
  return {
    ok: 1,
    createdCollectionAutomatically: isCreated,
    numIndexesBefore,
    numIndexesAfter: collection.indexes().length,
  };
};

export const listIndexes: Handler = (command, context) => {
  const collection = findCollection(command, 'listIndexes', context);
  const specs = collection.indexes().map((index) => index.spec);
  return context.cursors.open(collection.namespace, specs, batchSizeOf(command['cursor']), false);
};

export const dropIndexes: Handler = (command, context) => {
  const collection = findCollection(command, 'dropIndexes', context);
  const name = command['index'];
  if (typeof name !== 'string') throw badValue('dropIndexes takes the name of an index');
  const nIndexesWas = collection.indexes().length;
  const all = collection.indexes().map((index) => index.name);
  for (const indexName of name === '*' ? all.filter((other) => other !== '_id_') : [name])
    collection.dropIndex(indexName);
  return { ok: 1, nIndexesWas };
};

export const create: Handler = (command, context) => {
  const target = collectionNameOf(command, 'create');
  if (context.databases.find(context.db, target)) {
    throw new ServerError(48, 'NamespaceExists', `Collection ${context.db}.${target} already exists.`);
  }
  context.databases.ensure(context.db, target);
  return { ok: 1 };
};

export const drop: Handler = (command, context) => {
  const target = collectionNameOf(command, 'drop');
  const existed = context.databases.drop(context.db, target);
  return { ok: 1, ...(existed ? { ns: `${context.db}.${target}` } : {}) };
};

export const listCollections: Handler = (command, context) => {
  const rows = context.databases.names(context.db).map((name): Doc => ({ name, type: 'collection' }));
  const matching = rows.filter(compileFilter(command['filter'] ?? {}, context.now));
  const namespace = `${context.db}.$cmd.listCollections`;
  return context.cursors.open(namespace, matching, batchSizeOf(command['cursor']), false);
};

export const dropDatabase: Handler = (_command, context) => {
  context.databases.dropAll(context.db);
  return { ok: 1, dropped: context.db };
};

function findCollection(command: Doc, name: string, context: CommandContext) {
  const target = collectionNameOf(command, name);
  const collection = context.databases.find(context.db, target);
  if (!collection)
    throw new ServerError(26, 'NamespaceNotFound', `ns does not exist: ${context.db}.${target}`);
  return collection;
}
