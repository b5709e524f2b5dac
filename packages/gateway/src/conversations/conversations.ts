import {
  type ChatMessage,
  ConversationChange,
  type ConversationSummary,
  type Diagnostic,
} from '@behalf/contracts';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ConversationLimits, ConversationPosition, ConversationStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Log } from '../upstream/upstream.ts';
import { createSealedConversations } from './sealedConversations.ts';

/**
 * What people said and what was answered, each user's own. Whoever asks for somebody else's gets CHAT_NOT_FOUND, as for
 * one that does not exist; an administrator too.
 */
export interface Conversations {
  /** The newest first. `next` is the `after` of the next page. */
  list(
    owner: UserPrincipal,
    page: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<{ conversations: ConversationSummary[]; next: string | null }>;
  /** Without what was said in it. */
  find(owner: UserPrincipal, id: string): Promise<ConversationSummary>;
  open(
    owner: UserPrincipal,
    id: string,
  ): Promise<{ conversation: ConversationSummary; messages: ChatMessage[] }>;
  /** CHAT_LIMIT when there are too many. */
  create(owner: UserPrincipal, title: string): Promise<ConversationSummary>;
  /** Adds a message, or replaces the one with its id. CHAT_LIMIT when there are too many, or it is too large. */
  saveMessage(owner: UserPrincipal, id: string, message: ChatMessage): Promise<ConversationSummary>;
  rename(owner: UserPrincipal, id: string, title: string): Promise<ConversationSummary>;
  remove(owner: UserPrincipal, id: string): Promise<void>;
}

const MAX_CONVERSATIONS = 1_000;
/** Of one message, sealed: a third more than its JSON. MongoDB keeps no document over 16 MiB. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** A conversation is opened whole, in memory: beside the number of its messages their size has an end. */
const conversationLimits: ConversationLimits = { maxMessages: 2_000, maxSize: 32 * 1024 * 1024 };
const MAX_TITLE_LENGTH = 200;

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

/** As its user wants it. */
function parseTitle(title: string): string {
  const parsed = ConversationChange.safeParse({ title });
  if (parsed.success) return parsed.data.title;
  const message = `must have 1 to ${MAX_TITLE_LENGTH} characters`;
  const errors: Diagnostic[] = [{ path: 'title', code: 'title_length', message }];
  throw new GatewayError('REQUEST_INVALID', { errors });
}

/** Of a text of any length: its beginning, in one line. */
function deriveTitle(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  // Half a pair at the end is no character.
  const truncated = line.slice(0, MAX_TITLE_LENGTH).replace(/[\uD800-\uDBFF]$/, '');
  return parseTitle(truncated);
}

/** Opaque to callers. It says where, never whose: it needs no signature. */
function writeConversationCursor({ updatedAt, id }: ConversationPosition): string {
  return Buffer.from(JSON.stringify([updatedAt, id])).toString('base64url');
}

function readConversationCursor(cursor: string): ConversationPosition {
  const [updatedAt, id, ...rest] = decodeFields(cursor);
  if (!Number.isSafeInteger(updatedAt) || typeof id !== 'string' || rest.length > 0) throw invalidCursor();
  return { updatedAt: updatedAt as number, id };
}

function decodeFields(cursor: string): unknown[] {
  try {
    const decoded: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(decoded) ? decoded : [];
  } catch {
    return [];
  }
}

function invalidCursor(): GatewayError {
  return new GatewayError('REQUEST_INVALID', {
    errors: [{ path: 'after', code: 'custom', message: 'is not a valid cursor' }],
  });
}
