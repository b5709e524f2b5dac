import type { PrimaryStore } from '@behalf/gateway/ports';
import { systemClock, systemRandom } from '@behalf/kernel';
import { createMongoDouble, type MongoDouble } from '@behalf/testkit/mongo-double';
import { aChatMessage, aConversation } from '@behalf/testkit/suites';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { StoreUnavailableError } from '../errors.ts';
import { openMongoStore } from './openMongoStore.ts';

// What takes several steps here can be overtaken between them; to hold a step exists on the double alone.
let double: MongoDouble;
let store: PrimaryStore;
let other: PrimaryStore;

beforeEach(async () => {
  double = await createMongoDouble();
  // The driver looks for the server again at most every 500 ms; here it may look at once.
  const uri = `${double.uriFor('conversations')}&minHeartbeatFrequencyMS=10`;
  const open = () => openMongoStore({ clock: systemClock, random: systemRandom, uri });
  [store, other] = await Promise.all([open(), open()]);
});
afterEach(async () => {
  double.faults.reset();
  await Promise.all([store.close(), other.close()]);
  await double.close();
});

const say = (of: PrimaryStore) => {
  const { seq: _seq, size: _size, createdAt: _at, ...message } = aChatMessage();
  return of.conversations.putMessage(message, 2_000, { maxMessages: 10, maxSize: 1_000 });
};
const remove = (of: PrimaryStore) => of.conversations.remove('default', 'u1', 'c1');
const find = () => store.conversations.find('default', 'u1', 'c1');

/** Lets the first deletion pass and stops the second one. */
const holdSecondDeletion = () => {
  double.faults.hold('delete').release();
  return double.faults.hold('delete');
};

describe('conversations on several clients of MongoDB', () => {
  test('a message that comes after its conversation went leaves nothing behind', async () => {
    await store.conversations.insert(aConversation(), 10);
    const held = double.faults.hold('insert');
    const saying = say(store);
    await held.arrived;
    expect(await remove(other)).toBe(true);
    held.release();
    expect(await saying).toBe('missing');
    expect(await store.raw.count('chatMessages')).toBe(0);
  });

  test('a message that comes while its conversation goes goes with it', async () => {
    await store.conversations.insert(aConversation(), 10);
    const held = holdSecondDeletion();
    const removing = remove(store);
    await held.arrived;
    expect(await say(other)).toBe('stored');
    held.release();
    expect(await removing).toBe(true);
    expect(await store.raw.count('chatMessages')).toBe(0);
  });

  test('a removal that was cut short can be made again by who asked for it', async () => {
    await store.conversations.insert(aConversation(), 10);
    await say(store);
    const held = holdSecondDeletion();
    const removing = remove(store);
    await held.arrived;
    // And the driver's own repetition of it.
    double.faults.dropConnections(2, { command: 'delete' });
    held.release();
    await expect(removing).rejects.toBeInstanceOf(StoreUnavailableError);
    expect(await find()).toEqual(aConversation({ updatedAt: 2_000 }));
    expect(await remove(store)).toBe(true);
    expect(await store.raw.count('chatMessages')).toBe(0);
  });

  test('a conversation that is begun beside the last one that fits is taken back', async () => {
    const held = double.faults.hold('insert');
    const beginning = store.conversations.insert(aConversation(), 1);
    await held.arrived;
    expect(await other.conversations.insert(aConversation({ id: 'c2' }), 1)).toBe('inserted');
    held.release();
    expect(await beginning).toBe('full');
    expect((await store.raw.page('conversations', null, 9)).map(({ id }) => id)).toEqual(['c2']);
  });
});
