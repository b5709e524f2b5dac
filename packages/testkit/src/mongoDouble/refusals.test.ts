import { connect } from 'node:net';
import { once } from 'node:events';
import { mongo } from 'mongoose';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createMongoDouble, mongoDoubleBanner, type MongoDouble } from './index.ts';

let double: MongoDouble;
let client: mongo.MongoClient;
let db: mongo.Db;

beforeAll(async () => {
  double = await createMongoDouble();
  client = await new mongo.MongoClient(double.uri).connect();
  db = client.db('t');
  await db.collection('c').insertOne({ a: 1, list: [{ b: 1 }] });
});
afterAll(async () => {
  await client.close();
  await double.close();
});

/** Typed as the driver would never allow: what a mistake in a store would send. */
type Loose = Record<string, unknown>;
const find = (filter: Loose) => db.command({ find: 'c', filter });
const update = (u: unknown, q: Loose = {}) => db.command({ findAndModify: 'c', query: q, update: u });
const set = (expr: unknown) => update([{ $set: { x: expr } }]);

describe('the test double of MongoDB', () => {
  test('says in the handshake and in buildInfo what it is', async () => {
    expect(mongoDoubleBanner()).toMatch(/TEST DOUBLE/);
    for (const command of [{ hello: 1 }, { buildInfo: 1 }]) {
      expect(await db.admin().command(command)).toMatchObject({ testDouble: mongoDoubleBanner() });
    }
    expect(double.uri).toMatch(/^mongodb:\/\/127\.0\.0\.1:\d+\//);
  });

  const unknownCommands = [
    { distinct: 'c', key: 'a' },
    { mapReduce: 'c' },
    { collMod: 'c' },
    { renameCollection: 'x' },
    { saslStart: 1 },
    { commitTransaction: 1 },
    { serverStatus: 1 },
  ];
  for (const command of unknownCommands) {
    test(`refuses the command ${Object.keys(command)[0] as string}`, async () => {
      await expect(db.command(command)).rejects.toMatchObject({ code: 59, codeName: 'CommandNotFound' });
    });
  }

  const refused: [string, () => Promise<unknown>][] = [
    ['collation', () => db.command({ find: 'c', collation: { locale: 'en' } })],
    ['a hint', () => db.command({ find: 'c', hint: 'a_1' })],
    ['let', () => db.command({ find: 'c', let: { a: 1 } })],
    ['array filters', () => db.command({ update: 'c', updates: [{ q: {}, u: {}, arrayFilters: [] }] })],
    ['a transaction', () => db.command({ find: 'c', startTransaction: true })],
    ['a weak write concern', () => db.command({ insert: 'c', documents: [{}], writeConcern: { w: 2 } })],
    [
      'a read concern it has no notion of',
      () => db.command({ find: 'c', readConcern: { level: 'snapshot' } }),
    ],
    ['reads of a secondary', () => db.command({ find: 'c', $readPreference: { mode: 'secondary' } })],
    ['$where', () => find({ $where: 'true' })],
    ['$text', () => find({ $text: { $search: 'x' } })],
    ['$regex that minds the case', () => find({ a: { $regex: 'x' } })],
    ['$regex with other options', () => find({ a: { $regex: 'x', $options: 'is' } })],
    ['$regex that is more than a text', () => find({ a: { $regex: 'x.*', $options: 'i' } })],
    ['$regex beside another operator', () => find({ a: { $regex: 'x', $options: 'i', $ne: 'x' } })],
    ['$regex over an array', () => find({ list: { $regex: 'x', $options: 'i' } })],
    ['a regular expression', () => find({ a: /x/ })],
    ['$type', () => find({ a: { $type: 'string' } })],
    ['$all', () => find({ a: { $all: [1] } })],
    ['an order against null', () => find({ a: { $gt: null } })],
    ['an unknown operator within $or', () => find({ $or: [{ a: { $mod: [1, 2] } }] })],
    ['an unknown operator within $elemMatch', () => find({ list: { $elemMatch: { b: { $mod: [1, 2] } } } })],
    ['an unknown expression within $expr', () => find({ $expr: { $strLenCP: '$a' } })],
    ['$rename', () => update({ $rename: { a: 'b' } })],
    ['$bit', () => update({ $bit: { a: { and: 1 } } })],
    ['$push with $slice', () => update({ $push: { list: { $each: [], $slice: 1 } } })],
    ['a positional path', () => update({ $set: { 'list.$.b': 1 } })],
    ['a path through an array', () => update({ $set: { 'list.0.b': 1 } })],
    ['an unknown update stage', () => update([{ $project: { a: 1 } }])],
    ['an unknown expression', () => set({ $toUpper: 'a' })],
    ['an unknown variable', () => set('$$USER_ROLES')],
    ['a variable out of its scope', () => set('$$item')],
    [
      'an unknown aggregation stage',
      () => db.command({ aggregate: 'c', pipeline: [{ $lookup: {} }], cursor: {} }),
    ],
    [
      'an unknown accumulator',
      () =>
        db.command({ aggregate: 'c', pipeline: [{ $group: { _id: 1, a: { $push: '$a' } } }], cursor: {} }),
    ],
    ['a computed projection', () => db.command({ find: 'c', projection: { a: { $slice: 1 } } })],
    ['a text sort', () => db.command({ find: 'c', sort: { a: { $meta: 'textScore' } } })],
    ['a sort over an array', () => db.command({ find: 'c', sort: { list: 1 } })],
    [
      'a sparse index',
      () => db.command({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'x', sparse: true }] }),
    ],
    ['a text index', () => db.command({ createIndexes: 'c', indexes: [{ key: { a: 'text' }, name: 'x' }] })],
    [
      'an index with a collation',
      () =>
        db.command({
          createIndexes: 'c',
          indexes: [{ key: { a: 1 }, name: 'x', collation: { locale: 'en' } }],
        }),
    ],
  ];
  for (const [what, ask] of refused) {
    test(`refuses ${what}`, async () => {
      await expect(ask()).rejects.toMatchObject({ message: expect.stringMatching(/manifest/) as unknown });
    });
  }

  test('refuses values it cannot compare', async () => {
    const decimal = mongo.Decimal128.fromString('1.5');
    await expect(db.collection('c').insertOne({ a: decimal })).rejects.toThrow(/manifest/);
    await expect(db.collection('c').updateOne({}, { $set: { a: decimal } })).rejects.toThrow(/manifest/);
  });

  test('a refusal changes nothing', async () => {
    const before = await db.collection('c').find().toArray();
    await expect(update({ $set: { a: 2 }, $rename: { a: 'b' } })).rejects.toThrow(/manifest/);
    expect(await db.collection('c').find().toArray()).toEqual(before);
  });

  test('ends a connection that speaks another protocol', async () => {
    const socket = connect(Number(new URL(double.uri).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'close');
    expect(socket.destroyed).toBe(true);
  });
});
