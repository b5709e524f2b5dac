import type { SealContext } from '@behalf/kernel';

/** A conversation of one user, without what was said in it. */
export interface ConversationRecord {
  id: string;
  tenant: string;
  userId: string;
  /** The title, as JSON. */
  sealed: string;
  createdAt: number;
  /** When something was last said in it. */
  updatedAt: number;
}

/** One message of a conversation. Unique by (tenant, userId, conversationId, seq). */
export interface ChatMessageRecord {
  id: string;
  tenant: string;
  userId: string;
  conversationId: string;
  /** Its place in the conversation, from 1. The store gives it. */
  seq: number;
  /** How many characters `sealed` has. The store counts them. */
  size: number;
  /** The message as JSON. */
  sealed: string;
  createdAt: number;
}

/** A message as it is given to the store. */
export type ChatMessageInput = Omit<ChatMessageRecord, 'seq' | 'size' | 'createdAt'>;

/** What one conversation may hold. */
export interface ConversationLimits {
  readonly maxMessages: number;
  /** Of all its messages together, sealed. */
  readonly maxSize: number;
}

/** The last one that was seen: go on with those after it in the order of the list. */
export type ConversationPosition = Pick<ConversationRecord, 'updatedAt' | 'id'>;

/** Every method names tenant and user: with the id of somebody else's row nobody reads, changes or removes it. */
export interface ConversationStore {
  /** The newest first, by `updatedAt` and then by id, both descending. */
  list(
    tenant: string,
    userId: string,
    page: { after: ConversationPosition | null; limit: number },
  ): Promise<ConversationRecord[]>;
  find(tenant: string, userId: string, id: string): Promise<ConversationRecord | null>;
  /** Never more than `most` of one user, however many are inserted at once. Throws when the id exists. */
  insert(conversation: ConversationRecord, maxPerUser: number): Promise<'inserted' | 'full'>;
  /** Replaces what is sealed and nothing else: a message that is saved meanwhile undoes no new title. False: no such one. */
  rename(tenant: string, userId: string, id: string, sealed: string): Promise<boolean>;
  /** With all its messages, also with one that is being saved meanwhile. False when there was none. */
  remove(tenant: string, userId: string, id: string): Promise<boolean>;
  /** Of one conversation, in their order. */
  listMessages(tenant: string, userId: string, conversationId: string): Promise<ChatMessageRecord[]>;
  /**
   * Adds a message at the end, or replaces the one of the same id in its place; either way its conversation changed `at`.
   * Nothing is written when the conversation is not there, or has no room. Throws when the id is that of a message
   * elsewhere.
   */
  putMessage(
    message: ChatMessageInput,
    changedAt: number,
    limits: ConversationLimits,
  ): Promise<'stored' | 'missing' | 'too_many' | 'too_large'>;
  /** The user is gone; how many conversations there were. */
  removeByUser(tenant: string, userId: string): Promise<number>;
}

/** Bound to its owner and its id: a title moved into another row, or under another user or tenant, does not open there. */
export function toConversationSealContext({
  tenant,
  userId,
  id,
}: Pick<ConversationRecord, 'tenant' | 'userId' | 'id'>): SealContext {
  return {
    tenant,
    principal: `user:${userId}`,
    server: '-',
    kind: 'conversation',
    field: 'title',
    binding: [id],
  };
}

/** Bound to the conversation too: what was said in one is never read as if it had been said in another. */
export function toChatMessageSealContext({
  tenant,
  userId,
  conversationId,
  id,
}: Pick<ChatMessageRecord, 'tenant' | 'userId' | 'conversationId' | 'id'>): SealContext {
  return {
    tenant,
    principal: `user:${userId}`,
    server: '-',
    kind: 'chat-message',
    field: 'message',
    binding: [conversationId, id],
  };
}
