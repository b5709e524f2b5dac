import type { ChatMessage, ConversationSummary } from '@behalf/contracts';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ConversationStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Log } from '../upstream/parts.ts';
import type { Conversations } from './conversations.ts';
import { readConversationCursor, writeConversationCursor } from './cursor.ts';
import { conversationLimits, MAX_MESSAGE_BYTES, MAX_CONVERSATIONS } from './limits.ts';
import { createSealedConversations } from './sealedConversations.ts';
import { parseTitle, deriveTitle } from './titles.ts';

export interface ConversationParts {
  readonly store: ConversationStore;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Lets others have their turn: a conversation is opened message by message. */
  readonly yieldToEventLoop: () => Promise<void>;
}

/** What one list may ask for. */
const MAX_PAGE_SIZE = 200;

const limitMessages = {
  conversations: `You have ${MAX_CONVERSATIONS} conversations, which is the limit. Delete one first.`,
  too_many: `This conversation has ${conversationLimits.maxMessages} messages, which is the limit. Start a new one.`,
  too_large: `The messages of this conversation would have more than ${formatMebibytes(conversationLimits.maxSize)} in total. Start a new one.`,
  message: `A message may have ${formatMebibytes(MAX_MESSAGE_BYTES)} in stored form, and this one is larger.`,
} as const;

export function createConversations({
  store,
  keyring,
  clock,
  random,
  log,
  yieldToEventLoop,
}: ConversationParts): Conversations {
  const sealed = createSealedConversations({ keyring, log });

  /** One that does not open is none: what cannot be shown is not added to either. */
  async function find({ tenant, userId }: UserPrincipal, id: string): Promise<ConversationSummary> {
    const record = await store.find(tenant, userId, id);
    const summary = record && sealed.openSummary(record);
    if (!summary) throw notFound();
    return summary;
  }

  return {
    find,
    async list({ tenant, userId }, page) {
      const limit = Math.min(Math.max(1, page.limit), MAX_PAGE_SIZE);
      const after = page.after === undefined ? null : readConversationCursor(page.after);
      // One more than is shown tells whether there is more.
      const found = await store.list(tenant, userId, { after, limit: limit + 1 });
      const records = found.slice(0, limit);
      const last = records.at(-1);
      return {
        conversations: records.flatMap((record) => sealed.openSummary(record) ?? []),
        next: last !== undefined && found.length > limit ? writeConversationCursor(last) : null,
      };
    },
    async open(owner, id) {
      const conversation = await find(owner, id);
      const records = await store.listMessages(owner.tenant, owner.userId, id);
      const messages: ChatMessage[] = [];
      for (const record of records) {
        const message = sealed.openMessage(record);
        // Without the one that does not open: the rest is still its owner's, and the log says that something is missing.
        if (message) messages.push(message);
        await yieldToEventLoop();
      }
      return { conversation, messages };
    },
    async create({ tenant, userId }, text) {
      const key = { id: random.id(), tenant, userId };
      const title = deriveTitle(text);
      const now = clock.now();
      const record = { ...key, sealed: sealed.sealTitle(key, title), createdAt: now, updatedAt: now };
      if ((await store.insert(record, MAX_CONVERSATIONS)) === 'full') throw toLimitError('conversations');
      return { id: key.id, title, createdAt: now, updatedAt: now };
    },
    async saveMessage(owner, id, message) {
      const conversation = await find(owner, id);
      const key = { id: message.id, tenant: owner.tenant, userId: owner.userId, conversationId: id };
      const record = { ...key, sealed: sealed.sealMessage(key, message) };
      if (record.sealed.length > MAX_MESSAGE_BYTES) throw toLimitError('message');
      const now = clock.now();
      const outcome = await store.putMessage(record, now, conversationLimits);
      if (outcome === 'missing') throw notFound();
      if (outcome !== 'stored') throw toLimitError(outcome);
      return { ...conversation, updatedAt: Math.max(conversation.updatedAt, now) };
    },
    async rename(owner, id, newTitle) {
      const title = parseTitle(newTitle);
      const conversation = await find(owner, id);
      const { tenant, userId } = owner;
      const isRenamed = await store.rename(
        tenant,
        userId,
        id,
        sealed.sealTitle({ tenant, userId, id }, title),
      );
      if (!isRenamed) throw notFound();
      return { ...conversation, title };
    },
    async remove({ tenant, userId }, id) {
      // Without a look into it: one that does not open can still be thrown away.
      if (!(await store.remove(tenant, userId, id))) throw notFound();
    },
  };
}

function notFound(): GatewayError {
  return new GatewayError('CHAT_NOT_FOUND');
}

function toLimitError(limitKind: keyof typeof limitMessages): GatewayError {
  return new GatewayError('CHAT_LIMIT', { detail: limitMessages[limitKind] });
}

function formatMebibytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`;
}
