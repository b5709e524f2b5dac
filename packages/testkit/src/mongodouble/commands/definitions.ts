import { badValue, ServerError } from '../serverError.ts';
import type { Doc } from '../values.ts';
import { compileFilter } from '../filter.ts';
import { listOf, targetOf, type CommandContext, type Handler } from './context.ts';
import { batchSizeOf } from './reads.ts';

export const createIndexes: Handler = (command, context) => {
  const target = targetOf(command, 'createIndexes');
  const automatically = context.databases.find(context.db, target) === undefined;
  const collection = context.databases.ensure(context.db, target);
  const numIndexesBefore = collection.indexes().length;
  for (const spec of listOf(command['indexes'], 'indexes')) collection.createIndex(spec);
  return {
    ok: 1,
    createdCollectionAutomatically: automatically,
    numIndexesBefore,
    numIndexesAfter: collection.indexes().length,
  };
};

export const listIndexes: Handler = (command, context) => {
  const collection = existing(command, 'listIndexes', context);
  const specs = collection.indexes().map((index) => index.spec);
  return context.cursors.open(collection.namespace, specs, batchSizeOf(command['cursor']), false);
};

export const dropIndexes: Handler = (command, context) => {
  const collection = existing(command, 'dropIndexes', context);
  const name = command['index'];
  if (typeof name !== 'string') throw badValue('dropIndexes takes the name of an index');
  const nIndexesWas = collection.indexes().length;
  const all = collection.indexes().map((index) => index.name);
  for (const each of name === '*' ? all.filter((other) => other !== '_id_') : [name])
    collection.dropIndex(each);
  return { ok: 1, nIndexesWas };
};

export const create: Handler = (command, context) => {
  const target = targetOf(command, 'create');
  if (context.databases.find(context.db, target)) {
    throw new ServerError(48, 'NamespaceExists', `Collection ${context.db}.${target} already exists.`);
  }
  context.databases.ensure(context.db, target);
  return { ok: 1 };
};

export const drop: Handler = (command, context) => {
  const target = targetOf(command, 'drop');
  const there = context.databases.drop(context.db, target);
  return { ok: 1, ...(there ? { ns: `${context.db}.${target}` } : {}) };
};

export const listCollections: Handler = (command, context) => {
  const rows = context.databases.names(context.db).map((name): Doc => ({ name, type: 'collection' }));
  const shown = rows.filter(compileFilter(command['filter'] ?? {}, context.now));
  const namespace = `${context.db}.$cmd.listCollections`;
  return context.cursors.open(namespace, shown, batchSizeOf(command['cursor']), false);
};

export const dropDatabase: Handler = (_command, context) => {
  context.databases.dropAll(context.db);
  return { ok: 1, dropped: context.db };
};

function existing(command: Doc, name: string, context: CommandContext) {
  const target = targetOf(command, name);
  const collection = context.databases.find(context.db, target);
  if (!collection)
    throw new ServerError(26, 'NamespaceNotFound', `ns does not exist: ${context.db}.${target}`);
  return collection;
}
