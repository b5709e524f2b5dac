import {
  ConversationChange,
  StoredChatMessage,
  type ChatMessage,
  type ConversationSummary,
} from '@behalf/contracts';
import { SealError, type Keyring } from '@behalf/kernel';
import {
  toChatMessageSealContext,
  toConversationSealContext,
  type ChatMessageRecord,
  type ConversationRecord,
} from '../ports/index.ts';
import type { Log } from '../upstream/upstream.ts';

type ConversationKey = Pick<ConversationRecord, 'tenant' | 'userId' | 'id'>;
type MessageKey = Pick<ChatMessageRecord, 'tenant' | 'userId' | 'conversationId' | 'id'>;

/** What is written is what can be read back; what was changed, or moved here from elsewhere, is not read. */
interface SealedConversations {
  sealTitle(key: ConversationKey, title: string): string;
  sealMessage(key: MessageKey, message: ChatMessage): string;
  /** Null, and a line in the log, for one that does not open or is not what we sealed. */
  openSummary(record: ConversationRecord): ConversationSummary | null;
  openMessage(record: ChatMessageRecord): ChatMessage | null;
}

export function createSealedConversations({
  keyring,
  log,
}: {
  readonly keyring: Keyring;
  readonly log: Log;
}): SealedConversations {
  function tryOpen<T>(read: () => T, event: string, fields: Readonly<Record<string, string>>): T | null {
    try {
      return read();
    } catch (error) {
      log(event, { ...fields, reason: error instanceof SealError ? error.reason : 'unreadable' });
      return null;
    }
  }

  return {
    sealTitle: (key, title) =>
      keyring.seal(JSON.stringify(ConversationChange.parse({ title })), toConversationSealContext(key)),
    sealMessage: (key, message) =>
      keyring.seal(JSON.stringify(StoredChatMessage.parse(message)), toChatMessageSealContext(key)),
    openSummary(record) {
      const { id, createdAt, updatedAt } = record;
      const read = () => {
        const { title } = ConversationChange.parse(
          JSON.parse(keyring.open(record.sealed, toConversationSealContext(record))),
        );
        return { id, title, createdAt, updatedAt };
      };
      return tryOpen(read, 'conversation_unreadable', { conversation: id, user: record.userId });
    },
    openMessage(record) {
      const { id, conversationId, userId } = record;
      const read = () => {
        const message = StoredChatMessage.parse(
          JSON.parse(keyring.open(record.sealed, toChatMessageSealContext(record))),
        );
        if (message.id !== id) throw new Error('The sealed message belongs to another record');
        return message;
      };
      const fields = { conversation: conversationId, message: id, user: userId };
      return tryOpen(read, 'chat_message_unreadable', fields);
    },
  };
}
