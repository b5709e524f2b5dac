import { createKeyring, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createConversations } from './conversations.ts';

const alice = aPrincipal({ userId: 'alice' });
const unrelatedUsers = [aPrincipal({ userId: 'bob' }), aPrincipal({ userId: 'alice', tenant: 'other' })];

function rig() {
  const clock = createFakeClock();
  return createConversations({
    ...{ clock, random: systemRandom, log: () => undefined },
    store: openMemoryStore({ clock, random: systemRandom }).conversations,
    keyring: createKeyring([Buffer.alloc(32, 1)], systemRandom),
    yieldToEventLoop: () => new Promise((resolve) => setImmediate(resolve)),
  });
}

describe('conversations that are looked at', () => {
  test('let others have their turn while they are opened', async () => {
    const conversations = rig();
    const { id } = await conversations.create(alice, 'Long');
    for (let n = 0; n < 20; n += 1)
      await conversations.saveMessage(alice, id, { id: `m${n}`, role: 'user', text: 'What?', at: n });
    let turns = 0;
    let isOpen = false;
    const others = () => {
      turns += 1;
      if (!isOpen) setImmediate(others);
    };
    setImmediate(others);
    expect((await conversations.open(alice, id)).messages).toHaveLength(20);
    isOpen = true;
    expect(turns).toBeGreaterThanOrEqual(19);
  });

  test('are found without what was said, and by their owner alone', async () => {
    const conversations = rig();
    const started = await conversations.create(alice, 'Mine');
    expect(await conversations.find(alice, started.id)).toEqual(started);
    for (const unrelatedUser of unrelatedUsers) {
      await expect(conversations.find(unrelatedUser, started.id)).rejects.toMatchObject({
        code: 'CHAT_NOT_FOUND',
      });
    }
  });
});
