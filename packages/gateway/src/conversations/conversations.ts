import type { ChatMessage, ConversationSummary } from '@behalf/contracts';
import type { UserPrincipal } from '../principal/principal.ts';

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
