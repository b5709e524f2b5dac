import type { ChatMessage } from '@behalf/contracts';
import { createKeyring, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { GatewayError } from '../errors/gatewayError.ts';
import {
  toChatMessageSealContext,
  toConversationSealContext,
  type ChatMessageRecord,
  type ConversationRecord,
} from '../ports/index.ts';
import { createConversations } from './conversations.ts';

const alice = aPrincipal({ userId: 'alice' });
const unrelatedUsers = [
  aPrincipal({ userId: 'bob' }),
  aPrincipal({ userId: 'alice', tenant: 'other' }),
  aPrincipal({ userId: 'root', role: 'ADMIN' }),
];

function rig() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random: systemRandom });
  const logged: Record<string, unknown>[] = [];
  const conversations = createConversations({
    store: store.conversations,
    keyring: createKeyring([Buffer.alloc(32, 1)], systemRandom),
    clock,
    random: systemRandom,
    log: (event, fields) => void logged.push({ event, ...fields }),
    yieldToEventLoop: async () => undefined,
  });
  const list = (after?: string, limit = 2) => conversations.list(alice, { limit, after });
  const stored = async () => ({
    conversation: (await store.raw.page('conversations', null, 1))[0]!,
    message: (await store.raw.page('chatMessages', null, 1))[0]!,
  });
  return { clock, store, conversations, logged, list, stored };
}

const question = (id = 'm1', text = 'What is pl4nted?'): ChatMessage => ({ id, role: 'user', text, at: 1 });
const answer = (text: string): ChatMessage => ({
  id: 'm2',
  role: 'assistant',
  model: 'small',
  parts: [
    { type: 'text', text },
    {
      type: 'call',
      call: {
        callId: 'call-1',
        server: 's1',
        serverTitle: 'Files',
        tool: 'read',
        arguments: { path: 'pl4nted.txt', deep: { list: [1, null] } },
        authority: { kind: 'exchanged', scopes: ['files.read'], shared: false },
        state: 'done',
        result: { content: [{ type: 'text', text: 'pl4nted', annotations: {} }], isError: false },
        durationMs: 12,
      },
    },
  ],
  finish: 'stop',
  at: 2,
});

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no refusal',
    (error: unknown) => (error instanceof GatewayError ? error.code : error),
  );

describe('conversations', () => {
  test('are read back as they were said', async () => {
    const { clock, conversations } = rig();
    const started = await conversations.create(alice, 'What is it?');
    expect(started).toEqual({
      id: started.id,
      title: 'What is it?',
      createdAt: clock.now(),
      updatedAt: clock.now(),
    });
    expect(await conversations.open(alice, started.id)).toEqual({ conversation: started, messages: [] });
    await clock.advance(1_000);
    await conversations.saveMessage(alice, started.id, question());
    await clock.advance(1_000);
    const put = await conversations.saveMessage(alice, started.id, answer('It is pl4nted.'));
    expect(put).toEqual({ ...started, updatedAt: started.createdAt + 2_000 });
    expect(await conversations.open(alice, started.id)).toEqual({
      conversation: put,
      messages: [question(), answer('It is pl4nted.')],
    });
  });

  test('an answer that grows is one message, in its place', async () => {
    const { conversations } = rig();
    const { id } = await conversations.create(alice, 'x');
    await conversations.saveMessage(alice, id, question());
    for (const text of ['I', 'It', 'It is']) await conversations.saveMessage(alice, id, answer(text));
    await conversations.saveMessage(alice, id, question('m3', 'And now?'));
    await conversations.saveMessage(alice, id, answer('It is so.'));
    const { messages } = await conversations.open(alice, id);
    expect(messages).toEqual([question(), answer('It is so.'), question('m3', 'And now?')]);
  });

  test('what could not be read back is not written', async () => {
    const { conversations, store } = rig();
    const { id } = await conversations.create(alice, 'x');
    const odd = { ...question(), at: Number.NaN };
    await expect(conversations.saveMessage(alice, id, odd)).rejects.toThrow();
    expect(await store.raw.count('chatMessages')).toBe(0);
  });

  test('are the beginning of what was asked, or what their user wants, of at most 200 characters', async () => {
    const { clock, conversations, list } = rig();
    const titleOf = async (text: string) => (await conversations.create(alice, text)).title;
    expect(await titleOf('  two\n\tlines  ')).toBe('two lines');
    expect(await titleOf('x'.repeat(300))).toBe('x'.repeat(200));
    // A character of two units is not cut in half.
    expect(await titleOf(`${'x'.repeat(199)}😀 and on`)).toBe('x'.repeat(199));
    const started = await conversations.create(alice, 'last');
    await clock.advance(1_000);
    expect(await conversations.rename(alice, started.id, ' Mine ')).toEqual({ ...started, title: 'Mine' });
    expect((await list(undefined, 10)).conversations).toContainEqual({ ...started, title: 'Mine' });
    for (const wrong of ['', '  ', 'x'.repeat(201)]) {
      expect(await refusal(conversations.rename(alice, started.id, wrong))).toBe('REQUEST_INVALID');
    }
    expect((await conversations.open(alice, started.id)).conversation.title).toBe('Mine');
  });

  test('of somebody else answer as one that does not exist, to an administrator too', async () => {
    const { conversations } = rig();
    const started = await conversations.create(alice, 'x');
    const before = await conversations.saveMessage(alice, started.id, question());
    for (const unrelatedUser of unrelatedUsers) {
      expect(await conversations.list(unrelatedUser, { limit: 10 })).toEqual({
        conversations: [],
        next: null,
      });
      for (const id of [started.id, 'unknown']) {
        const requests = [
          conversations.open(unrelatedUser, id),
          conversations.saveMessage(unrelatedUser, id, question('m1', 'theirs')),
          conversations.rename(unrelatedUser, id, 'theirs'),
          conversations.remove(unrelatedUser, id),
        ];
        expect(await Promise.all(requests.map(refusal))).toEqual(requests.map(() => 'CHAT_NOT_FOUND'));
      }
    }
    const stored = { conversation: before, messages: [question()] };
    expect(await conversations.open(alice, started.id)).toEqual(stored);
  });

  test('that are removed are gone with what was said', async () => {
    const { conversations, store, list } = rig();
    const { id } = await conversations.create(alice, 'x');
    const other = await conversations.create(alice, 'y');
    await conversations.saveMessage(alice, id, question());
    await conversations.remove(alice, id);
    expect(await store.raw.count('chatMessages')).toBe(0);
    expect((await list()).conversations).toEqual([other]);
    // An answer that was being written has nowhere to go.
    expect(await refusal(conversations.saveMessage(alice, id, answer('late')))).toBe('CHAT_NOT_FOUND');
    expect(await refusal(conversations.remove(alice, id))).toBe('CHAT_NOT_FOUND');
    expect(await store.raw.count('chatMessages')).toBe(0);
  });

  test('are in the store neither by their title nor by a word', async () => {
    const { conversations, store } = rig();
    const { id } = await conversations.create(alice, 'About pl4nted');
    await conversations.saveMessage(alice, id, question());
    await conversations.saveMessage(alice, id, answer('It is pl4nted.'));
    const rows = [
      ...(await store.raw.page('conversations', null, 9)),
      ...(await store.raw.page('chatMessages', null, 9)),
    ];
    expect(rows).toHaveLength(3);
    expect(JSON.stringify(rows)).not.toMatch(/pl4nted|small|Files/);
  });

  test('that were moved or changed past us are not shown, not opened and not added to; the log says so', async () => {
    for (const moved of [
      { userId: 'bob' },
      { tenant: 'other' },
      { id: 'another' },
      { sealed: 'v1.pl4in' },
    ] satisfies Partial<ConversationRecord>[]) {
      const { conversations, store, logged, stored } = rig();
      await conversations.create(alice, 'x');
      const { conversation } = await stored();
      const row = { ...conversation, ...moved };
      await store.raw.remove('conversations', [conversation.id]);
      await store.raw.put('conversations', [row]);
      const owner = aPrincipal({ userId: row.userId, tenant: row.tenant });
      const untouched = await conversations.create(owner, 'untouched');
      expect(await conversations.list(owner, { limit: 10 })).toEqual({
        conversations: [untouched],
        next: null,
      });
      expect(await refusal(conversations.open(owner, row.id))).toBe('CHAT_NOT_FOUND');
      expect(await refusal(conversations.saveMessage(owner, row.id, question()))).toBe('CHAT_NOT_FOUND');
      expect(await refusal(conversations.rename(owner, row.id, 'y'))).toBe('CHAT_NOT_FOUND');
      expect(logged).toHaveLength(4);
      const reason = 'sealed' in moved ? 'malformed' : 'tampered';
      expect(logged[0]).toEqual({
        event: 'conversation_unreadable',
        conversation: row.id,
        user: row.userId,
        reason,
      });
      expect(await store.raw.count('chatMessages')).toBe(0);
      await conversations.remove(owner, row.id);
    }
  });

  test('show what is left of them when a message was moved into them or changed past us', async () => {
    const { conversations, store, logged, stored } = rig();
    const secret = await conversations.create(alice, 'secret');
    await conversations.saveMessage(alice, secret.id, question());
    const { message } = await stored();
    for (const owner of [alice, ...unrelatedUsers]) {
      const into = await conversations.create(owner, 'x');
      await conversations.saveMessage(owner, into.id, question(`of-${into.id}`, 'mine'));
      const { tenant, userId } = owner;
      const place: Partial<ChatMessageRecord> = { tenant, userId, conversationId: into.id, seq: 2 };
      // By its own id, and by that of a message that is there.
      for (const id of ['m1', `of-${into.id}`]) {
        await store.raw.put('chatMessages', [{ ...message, ...place, id }]);
        logged.length = 0;
        const { messages } = await conversations.open(owner, into.id);
        expect(messages).toEqual(id === 'm1' ? [question(`of-${into.id}`, 'mine')] : []);
        expect(logged[0]).toEqual({
          event: 'chat_message_unreadable',
          conversation: into.id,
          message: expect.any(String),
          user: userId,
          reason: 'tampered',
        });
      }
    }
  });

  test('a sealed value that is none of those we seal there is not shown', async () => {
    const { conversations, store, logged, stored } = rig();
    const { id } = await conversations.create(alice, 'x');
    await conversations.saveMessage(alice, id, question());
    const { conversation, message } = await stored();
    const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);
    for (const text of ['no JSON', '{}', JSON.stringify(question('another')), '{"id":"m1","role":"root"}']) {
      const sealed = keyring.seal(text, toChatMessageSealContext(message));
      await store.raw.put('chatMessages', [{ ...message, sealed }]);
      expect((await conversations.open(alice, id)).messages).toEqual([]);
      expect(logged.pop()).toMatchObject({ event: 'chat_message_unreadable', reason: 'unreadable' });
    }
    for (const text of ['no JSON', '{}', '{"title":""}', '{"title":"x","more":1}', '{"title":1}']) {
      const sealed = keyring.seal(text, toConversationSealContext(conversation));
      await store.raw.put('conversations', [{ ...conversation, sealed }]);
      expect(await refusal(conversations.open(alice, id))).toBe('CHAT_NOT_FOUND');
      expect(logged.pop()).toMatchObject({ event: 'conversation_unreadable', reason: 'unreadable' });
    }
    // Nothing of what was read is in the log.
    expect(JSON.stringify(logged)).not.toContain('no JSON');
  });

  test('come page by page, each once, while others begin and older ones are gone on with', async () => {
    const { clock, conversations, list } = rig();
    const started: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      started.unshift((await conversations.create(alice, `c${i}`)).id);
      await clock.advance(1_000);
    }
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await list(after);
      seen.push(...page.conversations.map(({ id }) => id));
      after = page.next ?? undefined;
      await conversations.create(alice, 'new');
      await clock.advance(1_000);
      await conversations.saveMessage(alice, started[0]!, question(`m${seen.length}`));
      await clock.advance(1_000);
    } while (after !== undefined);
    expect(seen).toEqual(started);
    const first = (await list(undefined, 1)).conversations;
    expect(first.map(({ id }) => id)).toEqual([started[0]]);
    expect((await list(undefined, 8)).next).toBeNull();
    expect((await list(undefined, 7)).next).not.toBeNull();
  });

  test('go on behind a page of which nothing can be shown', async () => {
    const { clock, conversations, store, list } = rig();
    const stored = await conversations.create(alice, 'kept');
    for (let i = 0; i < 2; i += 1) {
      await clock.advance(1_000);
      const { id } = await conversations.create(alice, 'x');
      await store.conversations.rename(alice.tenant, alice.userId, id, 'v1.broken');
    }
    const { conversations: none, next } = await list();
    expect(none).toEqual([]);
    expect(await list(next!)).toEqual({ conversations: [stored], next: null });
  });

  test('a place in the list that we did not give is refused', async () => {
    const { list } = rig();
    const texts = ['x', '{}', '[]', '[1]', '["1","c1"]', '[1,2]', '[1.5,"c1"]', '[1,"c1",2]', '[null,"c1"]'];
    for (const text of ['', '!', ...texts.map((each) => Buffer.from(each).toString('base64url'))]) {
      expect([text, await refusal(list(text))]).toEqual([text, 'REQUEST_INVALID']);
    }
  });

  describe('have an end', () => {
    const detail = (promise: Promise<unknown>) =>
      promise.then(
        () => 'no refusal',
        (error: unknown) => (error instanceof GatewayError ? `${error.code}: ${error.detail}` : error),
      );

    test('at 1,000 of one user, until one goes', async () => {
      const { conversations, store, stored } = rig();
      const { id } = await conversations.create(alice, 'x');
      const { conversation } = await stored();
      const copies = Array.from({ length: 998 }, (_, i) => ({ ...conversation, id: `c${i}` }));
      await store.raw.put('conversations', copies);
      await conversations.create(alice, 'the last');
      expect(await detail(conversations.create(alice, 'x'))).toMatch(
        /^CHAT_LIMIT: You have 1000 conversations/,
      );
      await conversations.create(unrelatedUsers[0]!, 'of somebody else');
      await conversations.saveMessage(alice, id, question());
      await conversations.remove(alice, id);
      await conversations.create(alice, 'again');
    });

    test('at 2,000 messages of one conversation', async () => {
      const { conversations, store, stored } = rig();
      const { id } = await conversations.create(alice, 'x');
      await conversations.saveMessage(alice, id, question());
      const { message } = await stored();
      const copies = Array.from({ length: 1_998 }, (_, i) => ({ ...message, id: `c${i}`, seq: i + 2 }));
      await store.raw.put('chatMessages', copies);
      await conversations.saveMessage(alice, id, answer('the last'));
      expect(await detail(conversations.saveMessage(alice, id, question('m3')))).toMatch(
        /^CHAT_LIMIT: This conversation has 2000 messages/,
      );
      // The last one may still grow.
      await conversations.saveMessage(alice, id, answer('the last, longer'));
    });

    test('at 4 MiB of one message and at 32 of them together', async () => {
      const { conversations, store, stored } = rig();
      const { id } = await conversations.create(alice, 'x');
      const large = (letters: number) => conversations.saveMessage(alice, id, answer('x'.repeat(letters)));
      expect(await detail(large(4 * 1024 * 1024))).toMatch(/^CHAT_LIMIT: A message may have 4 MiB/);
      expect(await store.raw.count('chatMessages')).toBe(0);
      await large(2.9 * 1024 * 1024);
      const { message } = await stored();
      expect(message.size).toBeLessThan(4 * 1024 * 1024);
      await store.raw.put('chatMessages', [{ ...message, size: 32 * 1024 * 1024 - 500 }]);
      await conversations.saveMessage(alice, id, question('m3', 'x'));
      expect(await detail(conversations.saveMessage(alice, id, question('m4', 'x'.repeat(500))))).toMatch(
        /^CHAT_LIMIT: The messages of this conversation would have more than 32 MiB/,
      );
    });
  });
});
