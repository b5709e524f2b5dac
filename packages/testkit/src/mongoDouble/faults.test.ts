import { mongo } from 'mongoose';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createMongoDouble, type MongoDouble } from './index.ts';

interface Row {
  _id: string;
  n?: number;
}

let double: MongoDouble;
let client: mongo.MongoClient;
let rows: mongo.Collection<Row>;
const clients: mongo.MongoClient[] = [];

async function open(options = ''): Promise<mongo.MongoClient> {
  const quick = '&minHeartbeatFrequencyMS=10&serverSelectionTimeoutMS=400';
  const opened = await new mongo.MongoClient(`${double.uri}${quick}${options}`).connect();
  clients.push(opened);
  return opened;
}

beforeEach(async () => {
  double = await createMongoDouble();
  client = await open();
  rows = client.db('t').collection<Row>('rows');
});
afterEach(async () => {
  double.faults.reset();
  await Promise.all(clients.splice(0).map((opened) => opened.close()));
  await double.close();
});

const inserts = () => double.receivedCommands.filter(({ name }) => name === 'insert').length;

describe('retryable writes on the double', () => {
  test('a repeated write with the same number answers as before and is not done again', async () => {
    const lsid = { id: new mongo.UUID() };
    const numbered = (txnNumber: number, command: object) =>
      client.db('t').command({ ...command, lsid, txnNumber: mongo.Long.fromNumber(txnNumber) });
    const increment = {
      findAndModify: 'rows',
      query: { _id: '1' },
      update: { $inc: { n: 1 } },
      upsert: true,
      new: true,
    };
    expect(await numbered(1, increment)).toMatchObject({ value: { n: 1 } });
    expect(await numbered(1, increment)).toMatchObject({ value: { n: 1 } });
    expect(await numbered(2, increment)).toMatchObject({ value: { n: 2 } });
    const insert = { insert: 'rows', documents: [{ _id: '2' }, { _id: '3' }] };
    expect(await numbered(3, insert)).toMatchObject({ n: 2 });
    expect(await numbered(3, insert)).toMatchObject({ n: 2 });
    await expect(numbered(1, increment)).rejects.toMatchObject({ code: 225 });
    const many = { delete: 'rows', deletes: [{ q: {}, limit: 0 }] };
    expect(await numbered(4, many)).toMatchObject({ writeErrors: [{ code: 72 }] });
    await expect(numbered(5, { find: 'rows' })).rejects.toMatchObject({ code: 50768 });
    expect(await rows.countDocuments()).toBe(3);
  });

  test('a statement that failed runs again with its retry', async () => {
    const session = client.startSession();
    const insert = { insert: 'rows', documents: [{ _id: '1' }, { _id: '2' }], ordered: true };
    const numbered = () =>
      client.db('t').command({ ...insert, txnNumber: mongo.Long.fromNumber(1) }, { session });
    await rows.insertOne({ _id: '2' });
    expect(await numbered()).toMatchObject({ n: 1, writeErrors: [{ index: 1, code: 11000 }] });
    await rows.deleteOne({ _id: '2' });
    expect(await numbered()).toMatchObject({ n: 2 });
    await session.endSession();
  });
});

describe('faults of the double', () => {
  test('a refused write is retried by the driver, unless it may not', async () => {
    double.faults.notWritablePrimary(1);
    await rows.insertOne({ _id: '1' });
    expect(inserts()).toBe(2);
    const once = await open('&retryWrites=false');
    double.faults.notWritablePrimary(1);
    const refused = once.db('t').collection<Row>('rows').insertOne({ _id: '2' });
    await expect(refused).rejects.toMatchObject({ code: 10107, codeName: 'NotWritablePrimary' });
    expect(await rows.countDocuments()).toBe(1);
  });

  test('a member that stepped down takes no writes and no reads', async () => {
    double.faults.notWritablePrimary('on');
    await expect(rows.insertOne({ _id: '1' })).rejects.toBeInstanceOf(mongo.MongoError);
    await expect(rows.findOne({})).rejects.toBeInstanceOf(mongo.MongoError);
    double.faults.notWritablePrimary('off');
    await rows.insertOne({ _id: '1' });
    expect(await rows.countDocuments()).toBe(1);
  });

  test('a connection ends before the write, or after it with the answer lost', async () => {
    const once = await open('&retryWrites=false');
    const plain = once.db('t').collection<Row>('rows');
    double.faults.dropConnections(1, { when: 'before' });
    await expect(plain.insertOne({ _id: '1' })).rejects.toBeInstanceOf(mongo.MongoNetworkError);
    expect(await rows.countDocuments()).toBe(0);
    double.faults.dropConnections(1, { when: 'after', command: 'insert' });
    await expect(plain.insertOne({ _id: '1' })).rejects.toBeInstanceOf(mongo.MongoNetworkError);
    expect(await rows.countDocuments()).toBe(1);
    double.faults.dropConnections(1, { when: 'after', command: 'insert' });
    expect(await rows.insertOne({ _id: '2' })).toMatchObject({ acknowledged: true });
    expect(await rows.countDocuments()).toBe(2);
  });

  test('a held command is overtaken, and runs when it is let go', async () => {
    const held = double.faults.hold('insert');
    const late = rows.insertOne({ _id: '1', n: 1 });
    await held.arrived;
    await rows.insertOne({ _id: '1', n: 2 });
    held.release();
    await expect(late).rejects.toMatchObject({ code: 11000 });
  });

  test('an unreachable server answers nobody until it is back', async () => {
    double.faults.unreachable('on');
    await expect(rows.findOne({})).rejects.toBeInstanceOf(mongo.MongoError);
    double.faults.unreachable('off');
    expect(await rows.findOne({})).toBeNull();
  });

  test('closing twice is closing once', async () => {
    await double.close();
    await double.close();
    await expect(rows.findOne({})).rejects.toBeInstanceOf(mongo.MongoError);
  });
});
