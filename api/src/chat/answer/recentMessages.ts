import type { ChatMessage } from '@behalf/contracts';

/** Far more than a model is sent of it, and far less than a conversation may hold. The largest answer has room in it. */
const MAX_HISTORY_LENGTH = 3 * 1024 * 1024;

/** The newest messages, as far as an answer has a use for them: they are held for as long as it is written. */
export function recentMessages(
  messages: readonly ChatMessage[],
  maxLength: number = MAX_HISTORY_LENGTH,
): readonly ChatMessage[] {
  let size = 0;
  const first = messages.findLastIndex((message) => (size += JSON.stringify(message).length) > maxLength);
  return messages.slice(first + 1);
}
