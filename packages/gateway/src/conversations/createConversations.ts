import type { ChatMessage, ConversationSummary } from '@behalf/contracts';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ConversationStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Log } from '../upstream/parts.ts';
import type { Conversations } from './conversations.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { conversationRoom, LARGEST_MESSAGE, MOST_CONVERSATIONS } from './limits.ts';
import { createSealedConversations } from './sealedConversations.ts';
import { givenTitle, shortTitle } from './titles.ts';

export interface ConversationParts {
  readonly store: ConversationStore;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Lets others have their turn: a conversation is opened message by message. */
  readonly giveWay: () => Promise<void>;
}

/** What one list may ask for. */
const LONGEST_PAGE = 200;

const noRoom = {
  conversations: `You have ${MOST_CONVERSATIONS} conversations, and no more are kept. Delete one first.`,
  too_many: `This conversation has ${conversationRoom.messages} messages, and no more are kept. Begin a new one.`,
  too_large: `The messages of this conversation would have more than ${mebibytes(conversationRoom.size)} together. Begin a new one.`,
  message: `A message may have ${mebibytes(LARGEST_MESSAGE)} as it is kept, and this one has more.`,
} as const;

export function createConversations({
  store,
  keyring,
  clock,
  random,
  log,
  giveWay,
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
      const limit = Math.min(Math.max(1, page.limit), LONGEST_PAGE);
      const after = page.after === undefined ? null : readCursor(page.after);
      // One more than is shown tells whether there is more.
      const found = await store.list(tenant, userId, { after, limit: limit + 1 });
      const records = found.slice(0, limit);
      const last = records.at(-1);
      return {
        conversations: records.flatMap((record) => sealed.openSummary(record) ?? []),
        next: last !== undefined && found.length > limit ? writeCursor(last) : null,
      };
    },
    async open(owner, id) {
      const conversation = await find(owner, id);
      const records = await store.messages(owner.tenant, owner.userId, id);
      const messages: ChatMessage[] = [];
      for (const record of records) {
        const message = sealed.openMessage(record);
        // Without the one that does not open: the rest is still its owner's, and the log says that something is missing.
        if (message) messages.push(message);
        await giveWay();
      }
      return { conversation, messages };
    },
    async begin({ tenant, userId }, text) {
      const key = { id: random.id(), tenant, userId };
      const title = shortTitle(text);
      const now = clock.now();
      const record = { ...key, sealed: sealed.sealTitle(key, title), createdAt: now, updatedAt: now };
      if ((await store.insert(record, MOST_CONVERSATIONS)) === 'full') throw limited('conversations');
      return { id: key.id, title, createdAt: now, updatedAt: now };
    },
    async put(owner, id, message) {
      const conversation = await find(owner, id);
      const key = { id: message.id, tenant: owner.tenant, userId: owner.userId, conversationId: id };
      const record = { ...key, sealed: sealed.sealMessage(key, message) };
      if (record.sealed.length > LARGEST_MESSAGE) throw limited('message');
      const now = clock.now();
      const outcome = await store.putMessage(record, now, conversationRoom);
      if (outcome === 'missing') throw notFound();
      if (outcome !== 'stored') throw limited(outcome);
      return { ...conversation, updatedAt: Math.max(conversation.updatedAt, now) };
    },
    async rename(owner, id, wanted) {
      const title = givenTitle(wanted);
      const conversation = await find(owner, id);
      const { tenant, userId } = owner;
      const isThere = await store.rename(tenant, userId, id, sealed.sealTitle({ tenant, userId, id }, title));
      if (!isThere) throw notFound();
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

function limited(what: keyof typeof noRoom): GatewayError {
  return new GatewayError('CHAT_LIMIT', { detail: noRoom[what] });
}

function mebibytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`;
}
