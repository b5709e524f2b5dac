import type { SealContext } from '@behalf/kernel';

/** A conversation of one user, without its messages. */
export interface ConversationRecord {
  id: string;
  tenant: string;
  userId: string;
  /** The title as encrypted JSON. */
  sealed: string;
  createdAt: number;
  /** When a message was last added. */
  updatedAt: number;
}

/** One message of a conversation. Unique by (tenant, userId, conversationId, seq). */
export interface ChatMessageRecord {
  id: string;
  tenant: string;
  userId: string;
  conversationId: string;
  /** The position in the conversation, from 1. The store assigns it. */
  seq: number;
  /** The length of `sealed` in characters. The store computes it. */
  size: number;
  /** The message as encrypted JSON. */
  sealed: string;
  createdAt: number;
}

/** A message as the caller passes it to the store. */
export type ChatMessageInput = Omit<ChatMessageRecord, 'seq' | 'size' | 'createdAt'>;

/** The limits of one conversation. */
export interface ConversationLimits {
  readonly maxMessages: number;
  /** Limits the sealed size of all messages together. */
  readonly maxSize: number;
}

/** The last conversation of the previous page. The next page starts after it. */
export type ConversationPosition = Pick<ConversationRecord, 'updatedAt' | 'id'>;

/**
 * Each method takes tenant and user, so that the ID of another user's row is not enough to read, change or remove
 * it.
 */
export interface ConversationStore {
  /** The newest first, by `updatedAt` and then by ID, both descending. */
  list(
    tenant: string,
    userId: string,
    page: { after: ConversationPosition | null; limit: number },
  ): Promise<ConversationRecord[]>;
  find(tenant: string, userId: string, id: string): Promise<ConversationRecord | null>;
  /** Atomic across replicas: never more than `maxPerUser` of one user. Throws if the ID exists. */
  insert(conversation: ConversationRecord, maxPerUser: number): Promise<'inserted' | 'full'>;
  /**
   * Replaces only the sealed title, so that a message saved at the same time does not undo it. False if there is no
   * such conversation.
   */
  rename(tenant: string, userId: string, id: string, sealed: string): Promise<boolean>;
  /** Also removes all messages, including one that is being saved at the same time. False if it did not exist. */
  remove(tenant: string, userId: string, id: string): Promise<boolean>;
  /** The messages of one conversation in order. */
  listMessages(tenant: string, userId: string, conversationId: string): Promise<ChatMessageRecord[]>;
  /**
   * Appends a message, or replaces the message with the same ID in its position. Both set the conversation's
   * `updatedAt`. Writes nothing if the conversation does not exist or is full. Throws if the ID belongs to a
   * message of another conversation.
   */
  putMessage(
    message: ChatMessageInput,
    changedAt: number,
    limits: ConversationLimits,
  ): Promise<'stored' | 'missing' | 'too_many' | 'too_large'>;
  /** Removes the conversations of a deleted user. Returns their number. */
  removeByUser(tenant: string, userId: string): Promise<number>;
}

/** Binds the title to owner and ID: a title copied to another row, user or tenant fails to decrypt. */
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

/** Also binds the message to its conversation, so that it never appears in another one. */
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
