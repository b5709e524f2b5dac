import {
  type ChatMessage,
  ConversationChange,
  type ConversationSummary,
  type Diagnostic,
  StoredChatMessage,
} from '@behalf/contracts';
import { type Clock, type Keyring, type Random, SealError } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import {
  type ChatMessageRecord,
  type ConversationLimits,
  type ConversationPosition,
  type ConversationRecord,
  type ConversationStore,
  toChatMessageSealContext,
  toConversationSealContext,
} from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Log } from '../upstream/upstream.ts';

/*
 * Chat conversations of each user.
 *
 * - A user reaches only their own conversations. Those of other users return CHAT_NOT_FOUND, like missing ones, to
 *   administrators as well.
 * - Titles and messages are stored sealed. The seal context binds a record to its tenant, user and id, so that a record
 *   copied elsewhere cannot be opened. Unreadable records are logged and skipped.
 */

export type Conversations = ReturnType<typeof createConversations>;

const MAX_CONVERSATIONS = 1_000;
/** Size of a sealed message, about a third more than its JSON. MongoDB limits a document to 16 MiB. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Opening a conversation loads it into memory, so the total size is limited as well. */
const conversationLimits: ConversationLimits = { maxMessages: 2_000, maxSize: 32 * 1024 * 1024 };
const MAX_TITLE_LENGTH = 200;
const MAX_PAGE_SIZE = 200;

const limitMessages = {
  conversations: `You have ${MAX_CONVERSATIONS} conversations, which is the limit. Delete one first.`,
  too_many: `This conversation has ${conversationLimits.maxMessages} messages, which is the limit. Start a new one.`,
  too_large: `The messages of this conversation would have more than ${formatMebibytes(conversationLimits.maxSize)} in total. Start a new one.`,
  message: `A message may have ${formatMebibytes(MAX_MESSAGE_BYTES)} in stored form, and this one is larger.`,
} as const;

export function createConversations(parts: {
  readonly store: ConversationStore;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Called between messages, so that opening a long conversation does not block other requests. */
  readonly yieldToEventLoop: () => Promise<void>;
}) {
  const { store, keyring, clock, random, log, yieldToEventLoop } = parts;

  function sealTitle(key: Pick<ConversationRecord, 'tenant' | 'userId' | 'id'>, title: string): string {
    return keyring.seal(JSON.stringify(ConversationChange.parse({ title })), toConversationSealContext(key));
  }

  /** Returns null and logs `event` if the record cannot be opened or has invalid content. */
  function tryOpen<T>(read: () => T, event: string, fields: Readonly<Record<string, string>>): T | null {
    try {
      return read();
    } catch (error) {
      log(event, { ...fields, reason: error instanceof SealError ? error.reason : 'unreadable' });
      return null;
    }
  }

  function openSummary(record: ConversationRecord): ConversationSummary | null {
    const { id, createdAt, updatedAt } = record;
    const read = () => {
      const opened: unknown = JSON.parse(keyring.open(record.sealed, toConversationSealContext(record)));
      return { id, title: ConversationChange.parse(opened).title, createdAt, updatedAt };
    };
    return tryOpen(read, 'conversation_unreadable', { conversation: id, user: record.userId });
  }

  function openMessage(record: ChatMessageRecord): ChatMessage | null {
    const { id, conversationId, userId } = record;
    const read = () => {
      const opened: unknown = JSON.parse(keyring.open(record.sealed, toChatMessageSealContext(record)));
      const message = StoredChatMessage.parse(opened);
      if (message.id !== id) throw new Error('The sealed message belongs to another record');
      return message;
    };
    const fields = { conversation: conversationId, message: id, user: userId };
    return tryOpen(read, 'chat_message_unreadable', fields);
  }

  /** Returns the conversation without its messages. An unreadable one counts as missing, so nothing is added to it. */
  async function find({ tenant, userId }: UserPrincipal, id: string): Promise<ConversationSummary> {
    const record = await store.find(tenant, userId, id);
    const summary = record && openSummary(record);
    if (!summary) throw notFound();
    return summary;
  }

  return {
    find,
    /** Newest first. `next` is the `after` cursor of the next page. */
    async list(
      { tenant, userId }: UserPrincipal,
      page: { readonly limit: number; readonly after?: string | undefined },
    ) {
      const limit = Math.min(Math.max(1, page.limit), MAX_PAGE_SIZE);
      const after = page.after === undefined ? null : readConversationCursor(page.after);
      // The additional record shows whether there is another page.
      const found = await store.list(tenant, userId, { after, limit: limit + 1 });
      const records = found.slice(0, limit);
      const last = records.at(-1);
      return {
        conversations: records.flatMap((record) => openSummary(record) ?? []),
        next: last !== undefined && found.length > limit ? writeConversationCursor(last) : null,
      };
    },
    async open(owner: UserPrincipal, id: string) {
      const conversation = await find(owner, id);
      const records = await store.listMessages(owner.tenant, owner.userId, id);
      const messages: ChatMessage[] = [];
      for (const record of records) {
        const message = openMessage(record);
        if (message) messages.push(message);
        await yieldToEventLoop();
      }
      return { conversation, messages };
    },
    /** The title is the beginning of `text`. Throws CHAT_LIMIT if the user has too many conversations. */
    async create({ tenant, userId }: UserPrincipal, text: string): Promise<ConversationSummary> {
      const key = { id: random.id(), tenant, userId };
      const title = deriveTitle(text);
      const now = clock.now();
      const record = { ...key, sealed: sealTitle(key, title), createdAt: now, updatedAt: now };
      if ((await store.insert(record, MAX_CONVERSATIONS)) === 'full') throw toLimitError('conversations');
      return { id: key.id, title, createdAt: now, updatedAt: now };
    },
    /** Adds a message or replaces the one with the same id. Throws CHAT_LIMIT for too many or too large messages. */
    async saveMessage(owner: UserPrincipal, id: string, message: ChatMessage): Promise<ConversationSummary> {
      const conversation = await find(owner, id);
      const key = { id: message.id, tenant: owner.tenant, userId: owner.userId, conversationId: id };
      const text = JSON.stringify(StoredChatMessage.parse(message));
      const record = { ...key, sealed: keyring.seal(text, toChatMessageSealContext(key)) };
      if (record.sealed.length > MAX_MESSAGE_BYTES) throw toLimitError('message');
      const now = clock.now();
      const outcome = await store.putMessage(record, now, conversationLimits);
      if (outcome === 'missing') throw notFound();
      if (outcome !== 'stored') throw toLimitError(outcome);
      return { ...conversation, updatedAt: Math.max(conversation.updatedAt, now) };
    },
    async rename(owner: UserPrincipal, id: string, newTitle: string): Promise<ConversationSummary> {
      const title = parseTitle(newTitle);
      const conversation = await find(owner, id);
      const { tenant, userId } = owner;
      if (!(await store.rename(tenant, userId, id, sealTitle({ tenant, userId, id }, title))))
        throw notFound();
      return { ...conversation, title };
    },
    async remove({ tenant, userId }: UserPrincipal, id: string): Promise<void> {
      // Does not open the record, so that unreadable conversations can be removed.
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

function parseTitle(title: string): string {
  const parsed = ConversationChange.safeParse({ title });
  if (parsed.success) return parsed.data.title;
  const message = `must have 1 to ${MAX_TITLE_LENGTH} characters`;
  const errors: Diagnostic[] = [{ path: 'title', code: 'title_length', message }];
  throw new GatewayError('REQUEST_INVALID', { errors });
}

/** The beginning of a text of any length, in one line. */
function deriveTitle(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  // Truncation can split a surrogate pair. Remove the remaining half.
  return parseTitle(line.slice(0, MAX_TITLE_LENGTH).replace(/[\uD800-\uDBFF]$/, ''));
}

/** An opaque position. The query that uses it is limited to the owner, so the cursor needs no signature. */
function writeConversationCursor({ updatedAt, id }: ConversationPosition): string {
  return Buffer.from(JSON.stringify([updatedAt, id])).toString('base64url');
}

function readConversationCursor(cursor: string): ConversationPosition {
  const [updatedAt, id, ...rest] = decodeCursor(cursor);
  if (!Number.isSafeInteger(updatedAt) || typeof id !== 'string' || rest.length > 0) {
    const errors = [{ path: 'after', code: 'custom', message: 'is not a valid cursor' }];
    throw new GatewayError('REQUEST_INVALID', { errors });
  }
  return { updatedAt: updatedAt as number, id };
}

function decodeCursor(cursor: string): unknown[] {
  try {
    const decoded: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(decoded) ? decoded : [];
  } catch {
    return [];
  }
}
