import { createConnection, mongo, Schema } from 'mongoose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createFakeClock, type FakeClock } from '../fakeClock.ts';
import { createMongoDouble, type MongoDouble } from './index.ts';

interface Row {
  _id: string;
  a?: unknown;
  b?: unknown;
  n?: number;
  list?: unknown[];
  low?: number;
  high?: number;
  at?: Date;
  until?: unknown;
  text?: string;
  mark?: boolean;
  removed?: unknown;
  deep?: unknown;
  scalar?: unknown;
  nothing?: null;
  x?: { y: number };
  all?: boolean;
  m?: number;
  kind?: string;
}

let clock: FakeClock;
let double: MongoDouble;
let client: mongo.MongoClient;
let rows: mongo.Collection<Row>;

beforeAll(async () => {
  clock = createFakeClock();
  double = await createMongoDouble({ clock });
  client = await new mongo.MongoClient(double.uri).connect();
  rows = client.db('t').collection<Row>('rows');
});
beforeEach(() => client.db('t').dropDatabase());
afterAll(async () => {
  await client.close();
  await double.close();
});

const after = { returnDocument: 'after' } as const;
const index = (key: Record<string, 1>, options: object = {}) => rows.createIndexes([{ key, ...options }]);
const stored = (id: string) => rows.findOne({ _id: id });

describe('unique indexes of the double', () => {
  test('an insert and an update report a duplicate as MongoDB does', async () => {
    await index({ a: 1, 'b.c': 1 }, { unique: true, name: 'pair' });
    await rows.insertMany([
      { _id: '1', a: 'x', b: { c: 1 } },
      { _id: '2', a: 'x', b: { c: 2 } },
    ]);
    const shape = {
      code: 11000,
      keyPattern: { a: 1, 'b.c': 1 },
      keyValue: { a: 'x', 'b.c': 1 },
      message: expect.stringMatching(
        /^E11000 duplicate key error collection: t\.rows index: pair dup key: /,
      ) as unknown,
    };
    await expect(rows.insertOne({ _id: '3', a: 'x', b: { c: 1 } })).rejects.toMatchObject(shape);
    await expect(rows.updateOne({ _id: '2' }, { $set: { 'b.c': 1 } })).rejects.toMatchObject(shape);
    await expect(rows.findOneAndUpdate({ _id: '2' }, { $set: { 'b.c': 1 } })).rejects.toMatchObject(shape);
    await expect(rows.insertOne({ _id: '1' })).rejects.toMatchObject({ code: 11000, keyPattern: { _id: 1 } });
    expect(await stored('2')).toEqual({ _id: '2', a: 'x', b: { c: 2 } });
    await rows.deleteOne({ _id: '1' });
    await rows.insertOne({ _id: '3', a: 'x', b: { c: 1 } });
  });

  test('a missing field counts as null, and a partial index binds only what it covers', async () => {
    await index({ mark: 1 }, { unique: true, name: 'mark', partialFilterExpression: { mark: true } });
    await rows.insertMany([{ _id: '1' }, { _id: '2' }, { _id: '3', mark: true }]);
    await expect(rows.insertOne({ _id: '4', mark: true })).rejects.toMatchObject({
      keyPattern: { mark: 1 },
    });
    await rows.updateOne({ _id: '3' }, { $unset: { mark: 1 } });
    await rows.updateOne({ _id: '1' }, { $set: { mark: true } });
    await expect(index({ other: 1 }, { unique: true })).rejects.toMatchObject({ code: 11000 });
    expect((await rows.indexes()).map((index) => index.name)).toEqual(['_id_', 'mark']);
  });

  test('an index is created once, and not twice with different meanings', async () => {
    await index({ a: 1 }, { name: 'a' });
    await index({ a: 1 }, { name: 'a' });
    await expect(index({ a: 1 }, { name: 'a', unique: true })).rejects.toMatchObject({
      code: 86,
    });
    await expect(index({ a: 1 }, { name: 'b' })).rejects.toMatchObject({ code: 85 });
    await rows.dropIndex('a');
    await expect(rows.dropIndex('a')).rejects.toMatchObject({ code: 27 });
  });

  test('an ordered bulk write stops at a duplicate, an unordered one goes on', async () => {
    const inserts = ['1', '1', '2'].map((_id) => ({ insertOne: { document: { _id } } }));
    await expect(rows.bulkWrite(inserts)).rejects.toMatchObject({ code: 11000 });
    expect(await rows.countDocuments()).toBe(1);
    await expect(rows.bulkWrite(inserts, { ordered: false })).rejects.toMatchObject({ code: 11000 });
    expect(await rows.countDocuments()).toBe(2);
  });
});

describe('updates of the double', () => {
  test('operators change what they name', async () => {
    await rows.insertOne({ _id: '1', n: 1, removed: true, list: ['a'], low: 5, high: 5 });
    const done = await rows.updateOne(
      { _id: '1' },
      {
        $set: { 'deep.er': 1 },
        $inc: { n: 2 },
        $unset: { removed: '' },
        $push: { list: { $each: ['b', 'b'] } },
        $min: { low: 3 },
        $max: { high: 3 },
        $currentDate: { at: true },
      },
    );
    expect(done).toMatchObject({ matchedCount: 1, modifiedCount: 1 });
    const now = new Date(clock.now());
    expect(await stored('1')).toEqual({
      _id: '1',
      n: 3,
      list: ['a', 'b', 'b'],
      low: 3,
      high: 5,
      deep: { er: 1 },
      at: now,
    });
    await rows.updateOne({ _id: '1' }, { $pull: { list: 'b' } });
    await rows.updateOne({ _id: '1' }, { $addToSet: { list: 'a' } });
    expect((await stored('1'))?.list).toEqual(['a']);
    expect(await rows.updateOne({ _id: '1' }, { $set: { n: 3 } })).toMatchObject({
      matchedCount: 1,
      modifiedCount: 0,
    });
  });

  test('what MongoDB refuses is refused', async () => {
    await rows.insertOne({ _id: '1', text: 'x' });
    const one = { _id: '1' };
    await expect(rows.updateOne(one, { $set: { _id: '2' } })).rejects.toMatchObject({ code: 66 });
    await expect(rows.updateOne(one, { $inc: { text: 1 } } as object)).rejects.toMatchObject({ code: 14 });
    await expect(rows.updateOne(one, { $set: { a: 1 }, $inc: { a: 1 } } as object)).rejects.toMatchObject({
      code: 40,
    });
    await expect(rows.updateOne(one, { $set: { 'text.a': 1 } })).rejects.toMatchObject({ code: 28 });
  });

  test('an upsert begins with what its filter fixes', async () => {
    const filter = { _id: '1', kind: { $eq: 'k' }, n: { $gt: 5 } };
    const made = await rows.updateOne(filter, { $set: { a: 1 }, $setOnInsert: { b: 2 } }, { upsert: true });
    expect(made).toMatchObject({ matchedCount: 0, upsertedCount: 1, upsertedId: '1' });
    expect(await stored('1')).toEqual({ _id: '1', kind: 'k', a: 1, b: 2 });
    await rows.updateOne({ _id: '1' }, { $setOnInsert: { b: 3 } }, { upsert: true });
    expect((await stored('1'))?.b).toBe(2);
    await expect(rows.updateOne(filter, { $set: { a: 2 } }, { upsert: true })).rejects.toMatchObject({
      code: 11000,
    });
  });

  test('findOneAndUpdate gives the document before or after, in the sorted order', async () => {
    await rows.insertMany([
      { _id: '1', n: 2 },
      { _id: '2', n: 1 },
    ]);
    const sort = { n: 1 } as const;
    expect(await rows.findOneAndUpdate({}, { $inc: { n: 5 } }, { sort })).toEqual({ _id: '2', n: 1 });
    expect(await rows.findOneAndUpdate({}, { $inc: { n: 5 } }, { sort, ...after })).toEqual({
      _id: '1',
      n: 7,
    });
    expect(await rows.findOneAndUpdate({ _id: '9' }, { $inc: { n: 1 } }, after)).toBeNull();
    expect(await rows.findOneAndUpdate({ _id: '9' }, { $inc: { n: 1 } }, { upsert: true })).toBeNull();
    expect(await rows.findOneAndReplace({ _id: '9' }, { m: 1 }, after)).toEqual({ _id: '9', m: 1 });
    expect(await rows.findOneAndDelete({ _id: '9' })).toEqual({ _id: '9', m: 1 });
    expect(await rows.updateMany({}, { $set: { all: true } })).toMatchObject({ modifiedCount: 2 });
    expect(await rows.deleteMany({ all: true })).toMatchObject({ deletedCount: 2 });
  });
});

describe('pipeline updates of the double', () => {
  test('$$NOW is the clock’s, once for the whole command', async () => {
    await rows.updateOne({ _id: '1' }, [{ $set: { at: '$$NOW', until: { $add: ['$$NOW', 500] } } }], {
      upsert: true,
    });
    const now = clock.now();
    expect(await stored('1')).toEqual({ _id: '1', at: new Date(now), until: new Date(now + 500) });
    const overrides = { _id: '1', $expr: { $lte: ['$until', '$$NOW'] } };
    expect(await rows.findOne(overrides)).toBeNull();
    await clock.advance(500);
    expect(await rows.findOne(overrides)).not.toBeNull();
  });

  test('every field of a stage sees the document before the stage', async () => {
    await rows.insertOne({ _id: '1', a: 1, b: 2 });
    await rows.updateOne({ _id: '1' }, [
      { $set: { a: '$b', b: '$a' } },
      { $set: { sum: { $subtract: ['$a', '$b'] } } },
    ]);
    expect(await stored('1')).toEqual({ _id: '1', a: 2, b: 1, sum: 1 });
  });

  test('comparisons order all types and tell missing from null', async () => {
    await rows.insertOne({ _id: '1', nothing: null, text: 'x' });
    const verdicts = {
      missingLess: { $lt: ['$missing', new Date(0)] },
      missingNotNull: { $eq: ['$missing', null] },
      nullIsNull: { $eq: ['$nothing', null] },
      textOverNumber: { $gt: ['$text', 99] },
      dateOverText: { $gte: ['$$NOW', '$text'] },
      ifNull: { $ifNull: ['$missing', '$nothing', 'last'] },
      cond: { $cond: { if: { $not: ['$missing'] }, then: 'yes', else: 'no' } },
    };
    expect(await rows.findOneAndUpdate({ _id: '1' }, [{ $set: verdicts }], after)).toMatchObject({
      missingLess: true,
      missingNotNull: false,
      nullIsNull: true,
      textOverNumber: true,
      dateOverText: true,
      ifNull: 'last',
      cond: 'yes',
    });
  });

  test('a nested object sets its fields, a literal is taken as it is', async () => {
    await rows.insertOne({ _id: '1', deep: { preserved: 1 }, scalar: 1, removed: 1 });
    const stages = [
      {
        $set: {
          deep: { a: 2 },
          scalar: { a: 1 },
          text: { $literal: '$deep' },
          removed: '$$REMOVE',
          copied: '$deep.preserved',
        },
      },
      { $unset: ['nowhere', 'scalar.b'] },
    ];
    expect(await rows.findOneAndUpdate({ _id: '1' }, stages, after)).toEqual({
      _id: '1',
      deep: { preserved: 1, a: 2 },
      scalar: { a: 1 },
      text: '$deep',
      copied: 1,
    });
    const replaced = await rows.findOneAndUpdate({ _id: '1' }, [{ $replaceWith: { only: '$text' } }], after);
    expect(replaced).toEqual({ _id: '1', only: '$deep' });
  });

  test('arrays are filtered, joined and counted', async () => {
    await rows.insertOne({ _id: '1', list: [{ n: 1 }, { n: 2 }, { n: 3 }] });
    const big = { $filter: { input: '$list', as: 'item', cond: { $gte: ['$$item.n', 2] } } };
    const stages = [
      {
        $set: { list: { $concatArrays: [big, [{ n: 9 }]] }, size: { $size: big }, in: { $in: [1, [1, 2]] } },
      },
    ];
    expect(await rows.findOneAndUpdate({ _id: '1' }, stages, after)).toEqual({
      _id: '1',
      list: [{ n: 2 }, { n: 3 }, { n: 9 }],
      size: 2,
      in: true,
    });
  });
});

describe('reads of the double', () => {
  test('filters, sorts, pages and projects', async () => {
    await rows.insertMany(
      Array.from({ length: 250 }, (_, i) => ({ _id: String(i).padStart(3, '0'), n: i % 10, x: { y: i } })),
    );
    const page = rows
      .find({ n: { $in: [1, 2] }, 'x.y': { $gt: 10, $lte: 22 } })
      .sort({ n: -1, _id: 1 })
      .project({ n: 1 });
    expect(await page.toArray()).toEqual([
      { _id: '012', n: 2 },
      { _id: '022', n: 2 },
      { _id: '011', n: 1 },
      { _id: '021', n: 1 },
    ]);
    expect(await rows.find({}).sort({ _id: 1 }).skip(3).limit(1).project({ x: 0 }).toArray()).toEqual([
      { _id: '003', n: 3 },
    ]);
    expect(await rows.find({}, { batchSize: 40 }).toArray()).toHaveLength(250);
    expect(await rows.countDocuments({ $or: [{ n: 1 }, { n: { $not: { $gt: 0 } } }] })).toBe(50);
    expect(await rows.countDocuments({ $nor: [{ n: 1 }], missing: { $exists: false }, other: null })).toBe(
      225,
    );
    expect(await rows.estimatedDocumentCount()).toBe(250);
    const grouped = rows.aggregate([
      { $match: { n: { $lt: 2 } } },
      { $group: { _id: '$n', count: { $sum: 1 }, most: { $max: '$x.y' } } },
      { $sort: { _id: -1 } },
    ]);
    expect(await grouped.toArray()).toEqual([
      { _id: 1, count: 25, most: 241 },
      { _id: 0, count: 25, most: 240 },
    ]);
  });

  test('finds texts that contain a text, in any case', async () => {
    await rows.insertMany([
      { _id: '1', text: 'Ünal.a' },
      { _id: '2', text: 'ünalxa' },
      { _id: '3', n: 1 },
    ]);
    const ids = async (pattern: string) =>
      (await rows.find({ text: { $regex: pattern, $options: 'i' } }).toArray()).map(({ _id }) => _id);
    expect(await ids('ÜNAL')).toEqual(['1', '2']);
    expect(await ids('L\\x2eA')).toEqual(['1']);
  });

  test('lists what exists and forgets what is dropped', async () => {
    await rows.insertOne({ _id: '1' });
    const names = async () => (await client.db('t').listCollections().toArray()).map(({ name }) => name);
    expect(await names()).toEqual(['rows']);
    await rows.drop();
    expect(await names()).toEqual([]);
    await expect(rows.indexes()).rejects.toMatchObject({ code: 26 });
  });

  test('a document outlives its time until the monitor comes by, as with MongoDB', async () => {
    await index({ until: 1 }, { expireAfterSeconds: 10 });
    await rows.insertMany([
      { _id: '1', until: new Date(clock.now()) },
      { _id: '2', until: 'not a date' },
      { _id: '3' },
    ]);
    await clock.advance(10_000);
    expect(await rows.countDocuments()).toBe(3);
    expect(double.removeExpired()).toBe(1);
    expect(await stored('1')).toBeNull();
    await rows.insertOne({ _id: '1', until: new Date(clock.now()) });
    await clock.advance(70_000);
    expect(await rows.countDocuments()).toBe(2);
  });

  test('serves mongoose as it is', async () => {
    const connection = await createConnection(double.uriFor('m')).asPromise();
    const schema = new Schema(
      { name: { type: String, unique: true }, at: Date, tags: [String] },
      { timestamps: true },
    );
    const Thing = connection.model('Thing', schema);
    await Thing.init();
    const thing = await Thing.create({ name: 'a', tags: ['x'] });
    thing.tags.push('y');
    await thing.save();
    expect((await Thing.findById(thing._id).lean())?.tags).toEqual(['x', 'y']);
    await expect(Thing.create({ name: 'a' })).rejects.toMatchObject({ code: 11000, keyValue: { name: 'a' } });
    // Optimistic concurrency: a stale copy that overwrites the array finds its version gone.
    const stale = await Thing.findById(thing._id).orFail();
    await Thing.updateOne({ _id: thing._id }, { $inc: { __v: 1 } });
    stale.tags = ['z'] as never;
    await expect(stale.save()).rejects.toMatchObject({ name: 'VersionError' });
    await connection.close();
  });
});
