import {
  toChatMessageSealContext,
  toConversationSealContext,
  keyCheckContext,
  type ChatMessageRecord,
  type PrimaryStore,
} from '@behalf/gateway/ports';
import { createKeyring, systemClock, systemRandom as random } from '@behalf/kernel';
import { aChatMessage, aConversation } from '@behalf/testkit/suites';
import { describe, expect, test } from '@jest/globals';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { copyStore, rotateStore } from './index.ts';

const key = Buffer.alloc(32, 1);
const keyring = createKeyring([key], random);
const memory = () => openMemoryStore({ clock: systemClock, random });

const aSealedMessage = (overrides: Partial<Omit<ChatMessageRecord, 'sealed' | 'size'>>) => {
  const message = aChatMessage(overrides);
  return aChatMessage({
    ...overrides,
    sealed: keyring.seal(`said in ${message.id}`, toChatMessageSealContext(message)),
  });
};

async function filled(count: number): Promise<PrimaryStore> {
  const store = memory();
  await store.system.getOrCreateKeyCheck(keyring.seal('behalf', keyCheckContext));
  const conversation = aConversation();
  const sealed = keyring.seal('a title', toConversationSealContext(conversation));
  await store.raw.put('conversations', [{ ...conversation, sealed }]);
  const ids = Array.from({ length: count }, (_, i) => `m${String(i).padStart(3, '0')}`);
  await store.raw.put(
    'chatMessages',
    ids.map((id, i) => aSealedMessage({ id, seq: i + 1 })),
  );
  return store;
}

describe('conversations in a store that is moved', () => {
  test('a title or a message that was moved into another row stops the copy and is named', async () => {
    for (const moved of [
      { userId: 'u2' },
      { tenant: 'other' },
      { conversationId: 'c2' },
      { id: 'm9' },
    ] as const) {
      const source = await filled(1);
      const [message] = await source.raw.page('chatMessages', null, 1);
      await source.raw.remove('chatMessages', [message!.id]);
      await source.raw.put('chatMessages', [{ ...message!, ...moved }]);
      await expect(copyStore({ from: source, to: memory(), keyring, random })).rejects.toThrow(
        /chatMessages m.*: its sealed message cannot be decrypted \(tampered\)/,
      );
    }
    for (const moved of [{ userId: 'u2' }, { tenant: 'other' }, { id: 'c9' }] as const) {
      const source = await filled(0);
      const [conversation] = await source.raw.page('conversations', null, 1);
      await source.raw.remove('conversations', ['c1']);
      await source.raw.put('conversations', [{ ...conversation!, ...moved }]);
      await expect(copyStore({ from: source, to: memory(), keyring, random })).rejects.toThrow(
        /conversations c.*: its sealed title cannot be decrypted \(tampered\)/,
      );
    }
  });

  test('messages, which may be large, are moved and sealed anew a few at a time', async () => {
    const source = await filled(25);
    const target = memory();
    const requests: number[] = [];
    const counting = (store: PrimaryStore): PrimaryStore => ({
      ...store,
      raw: {
        ...store.raw,
        async page(name, after, limit) {
          if (name === 'chatMessages') requests.push(limit);
          return store.raw.page(name, after, limit);
        },
      },
    });
    await copyStore({ from: counting(source), to: counting(target), keyring, random });
    await rotateStore({ store: counting(target), keys: [Buffer.alloc(32, 2), key], random });
    expect(await target.raw.count('chatMessages')).toBe(25);
    expect(requests.length).toBeGreaterThan(10);
    expect(Math.max(...requests)).toBe(10);
  });
});
