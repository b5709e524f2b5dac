import type {
  ChatMessageInput,
  ChatMessageRecord,
  ConversationPosition,
  ConversationRecord,
  ConversationLimits,
  PrimaryStore,
} from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

export function aConversation(overrides: Partial<ConversationRecord> = {}): ConversationRecord {
  return {
    id: 'c1',
    tenant: 'default',
    userId: 'u1',
    sealed: 'v1.title',
    createdAt: 1_000,
    updatedAt: 1_000,
    ...overrides,
  };
}

export function aChatMessage(overrides: Partial<Omit<ChatMessageRecord, 'size'>> = {}): ChatMessageRecord {
  const record = {
    id: 'm1',
    tenant: 'default',
    userId: 'u1',
    conversationId: 'c1',
    seq: 1,
    sealed: 'v1.message',
    createdAt: 1_000,
    ...overrides,
  };
  return { ...record, size: record.sealed.length };
}

const LIMITS: ConversationLimits = { maxMessages: 100, maxSize: 100_000 };
const MAX_CONVERSATIONS = 1_000;

/** All users who do not own what `aConversation` and `aChatMessage` create: in another tenant, or another user. */
const unrelatedUsers = [
  ['other', 'u1'],
  ['default', 'u2'],
] as const;

export function conversationsSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`ConversationStore on ${label}`, () => {
    const store = useStore(open);
    const insert = async (...records: ConversationRecord[]) => {
      for (const record of records)
        expect(await store().conversations.insert(record, MAX_CONVERSATIONS)).toBe('inserted');
    };
    const putMessage = (overrides: Partial<ChatMessageInput> = {}, changedAt = 2_000, limits = LIMITS) => {
      const { seq: _seq, size: _size, createdAt: _at, ...message } = aChatMessage(overrides);
      return store().conversations.putMessage(message, changedAt, limits);
    };
    const find = (id = 'c1') => store().conversations.find('default', 'u1', id);
    const messages = (id = 'c1') => store().conversations.listMessages('default', 'u1', id);
    const list = (after: ConversationPosition | null = null, limit = 10) =>
      store().conversations.list('default', 'u1', { after, limit });
    const ids = (records: readonly { id: string }[]) => records.map(({ id }) => id);

    test('a conversation and its messages are read back as they were written, in their order', async () => {
      const odd = aConversation({ sealed: 'v1."$&" ünïcode 李' });
      await insert(odd);
      expect(await find()).toEqual(odd);
      expect(await find('unknown')).toBeNull();
      expect(await messages()).toEqual([]);
      const texts = ['v1.z', 'v1."$&" ünïcode 李', 'v1.a'];
      for (const [i, sealed] of texts.entries()) {
        // In order of arrival, not of ID.
        expect(await putMessage({ id: `m${9 - i}`, sealed }, 2_000 + i)).toBe('stored');
      }
      expect(await messages()).toEqual(
        texts.map((sealed, i) => aChatMessage({ id: `m${9 - i}`, sealed, seq: i + 1, createdAt: 2_000 + i })),
      );
      expect(await find()).toEqual({ ...odd, updatedAt: 2_002 });
    });

    test('a message of the same id takes the place of the one before it, however many are written at once', async () => {
      await insert(aConversation());
      await putMessage({ id: 'm1' });
      await putMessage({ id: 'm2' }, 2_001);
      await putMessage({ id: 'm1', sealed: 'v1.grown' }, 2_002);
      const second = aChatMessage({ id: 'm2', seq: 2, createdAt: 2_001 });
      expect(await messages()).toEqual([aChatMessage({ sealed: 'v1.grown', createdAt: 2_000 }), second]);
      await Promise.all(
        Array.from({ length: 10 }, (_, i) => putMessage({ id: 'm3', sealed: `v1.${i}` }, 2_003)),
      );
      expect(ids(await messages())).toEqual(['m1', 'm2', 'm3']);
    });

    test('messages that are added at once have a place each', async () => {
      await insert(aConversation());
      const outcomes = await Promise.all(Array.from({ length: 10 }, (_, i) => putMessage({ id: `m${i}` })));
      expect(new Set(outcomes)).toEqual(new Set(['stored']));
      const found = await messages();
      expect(found.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect(ids(found).sort()).toEqual(Array.from({ length: 10 }, (_, i) => `m${i}`));
    });

    test('the newest come first, page by page, each once, also those of one moment and while others are added', async () => {
      const times = { c0: 4_500, c1: 3_000, c2: 1_000, c3: 2_000, c4: 2_000, c5: 4_000 };
      for (const [id, updatedAt] of Object.entries(times)) await insert(aConversation({ id, updatedAt }));
      await insert(aConversation({ id: 'd1', tenant: 'other', updatedAt: 2_500 }));
      await insert(aConversation({ id: 'd2', userId: 'u2', updatedAt: 2_500 }));
      expect(ids(await list())).toEqual(['c0', 'c5', 'c1', 'c4', 'c3', 'c2']);
      const seen: ConversationRecord[] = [];
      for (let after: ConversationRecord | null = null; ;) {
        const page: ConversationRecord[] = await list(after, 2);
        if (page.length === 0) break;
        seen.push(...page);
        after = page.at(-1) ?? null;
        // A new conversation, and an old one with a new message: both precede the rest of the list.
        await insert(aConversation({ id: `n${seen.length}`, updatedAt: 5_000 }));
        await putMessage({ id: `m${seen.length}`, conversationId: 'c5' }, 6_000);
      }
      expect(ids(seen)).toEqual(['c0', 'c5', 'c1', 'c4', 'c3', 'c2']);
    });

    test('a new title and a message that is saved meanwhile undo nothing of each other', async () => {
      await insert(aConversation());
      await Promise.all([
        ...Array.from({ length: 5 }, (_, i) => putMessage({ id: `m${i}` }, 2_000 + i)),
        store().conversations.rename('default', 'u1', 'c1', 'v1.renamed'),
      ]);
      // An earlier time does not move the conversation back.
      await putMessage({ id: 'late' }, 1_500);
      expect(await find()).toEqual(aConversation({ sealed: 'v1.renamed', updatedAt: 2_004 }));
      expect(await store().conversations.rename('default', 'u1', 'unknown', 'v1.x')).toBe(false);
    });

    test('with the id of another user’s or tenant’s row nobody reads, changes, adds or removes', async () => {
      await insert(aConversation());
      await putMessage();
      for (const [tenant, userId] of unrelatedUsers) {
        expect(await store().conversations.find(tenant, userId, 'c1')).toBeNull();
        expect(await store().conversations.list(tenant, userId, { after: null, limit: 9 })).toEqual([]);
        expect(await store().conversations.listMessages(tenant, userId, 'c1')).toEqual([]);
        expect(await store().conversations.rename(tenant, userId, 'c1', 'v1.theirs')).toBe(false);
        expect(await putMessage({ id: 'm9', tenant, userId })).toBe('missing');
        expect(await store().conversations.remove(tenant, userId, 'c1')).toBe(false);
        expect(await store().conversations.removeByUser(tenant, userId)).toBe(0);
        await expect(
          store().conversations.insert(aConversation({ tenant, userId }), MAX_CONVERSATIONS),
        ).rejects.toThrow();
        // A user cannot overwrite the message of another user from an own conversation.
        const theirs = { id: `c-${tenant}-${userId}`, tenant, userId };
        await insert(aConversation(theirs));
        await expect(
          putMessage({ tenant, userId, conversationId: theirs.id, sealed: 'v1.x' }),
        ).rejects.toThrow();
      }
      expect(await find()).toEqual(aConversation({ updatedAt: 2_000 }));
      expect(await messages()).toEqual([aChatMessage({ createdAt: 2_000 })]);
      // A message belongs to one conversation, also for the same user.
      await insert(aConversation({ id: 'c2' }));
      await expect(putMessage({ conversationId: 'c2' })).rejects.toThrow();
      expect(await messages('c2')).toEqual([]);
    });

    test('of parallel beginnings never more are kept than a user may have', async () => {
      await insert(aConversation({ id: 'other', userId: 'u2' }));
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store().conversations.insert(aConversation({ id: `c${i}` }), 5)),
      );
      const remaining = await list(null, 100);
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(remaining.length);
      expect(remaining.length).toBeLessThanOrEqual(5);
      for (let i = remaining.length; i < 5; i += 1) {
        expect(await store().conversations.insert(aConversation({ id: `d${i}` }), 5)).toBe('inserted');
      }
      expect(await store().conversations.insert(aConversation({ id: 'e' }), 5)).toBe('full');
      expect(await store().raw.count('conversations')).toBe(6);
    });

    test('a conversation takes so many messages and so much of them, and one that is replaced counts once', async () => {
      await insert(aConversation(), aConversation({ id: 'c2' }));
      const limits = { maxMessages: 3, maxSize: 30 };
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, i) => putMessage({ id: `m${i}`, sealed: 'v1.45' }, 2_000, limits)),
      );
      expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(3);
      expect(outcomes.filter((outcome) => outcome === 'too_many')).toHaveLength(5);
      const [first, ...others] = await messages();
      expect(others).toHaveLength(2);
      const resizeFirst = (length: number) =>
        putMessage({ id: first!.id, sealed: 'x'.repeat(length) }, 3_000, limits);
      expect(await resizeFirst(21)).toBe('too_large');
      expect((await find())?.updatedAt).toBe(2_000);
      expect(await resizeFirst(20)).toBe('stored');
      expect((await messages())[0]?.size).toBe(20);
      // The limits apply per conversation.
      expect(await putMessage({ id: 'n', conversationId: 'c2', sealed: 'x'.repeat(30) }, 2_000, limits)).toBe(
        'stored',
      );
    });

    test('a conversation goes with its messages and nothing else, also with those that are being saved', async () => {
      await insert(aConversation(), aConversation({ id: 'c2' }));
      await putMessage();
      await putMessage({ id: 'kept', conversationId: 'c2' });
      const [removed, ...outcomes] = await Promise.all([
        store().conversations.remove('default', 'u1', 'c1'),
        ...Array.from({ length: 5 }, (_, i) => putMessage({ id: `late${i}` })),
      ]);
      expect(removed).toBe(true);
      for (const outcome of outcomes) expect(['stored', 'missing']).toContain(outcome);
      expect(await find()).toBeNull();
      expect(ids(await store().raw.page('chatMessages', null, 10))).toEqual(['kept']);
      expect(await store().conversations.remove('default', 'u1', 'c1')).toBe(false);
      expect(await putMessage()).toBe('missing');
      expect(ids(await list())).toEqual(['c2']);
    });

    test('all of one user go at once, and no others', async () => {
      await insert(aConversation(), aConversation({ id: 'c2' }));
      await putMessage();
      for (const [tenant, userId] of unrelatedUsers) {
        const id = `${tenant}-${userId}`;
        await insert(aConversation({ id, tenant, userId }));
        await putMessage({ id: `m-${id}`, tenant, userId, conversationId: id });
      }
      expect(await store().conversations.removeByUser('default', 'u1')).toBe(2);
      expect(ids(await store().raw.page('conversations', null, 10))).toEqual(['default-u2', 'other-u1']);
      expect(ids(await store().raw.page('chatMessages', null, 10))).toEqual(['m-default-u2', 'm-other-u1']);
    });
  });
}
