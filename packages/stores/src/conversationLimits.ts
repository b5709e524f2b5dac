import type { ConversationLimits } from '@behalf/gateway/ports';

/** Why a message cannot be added to the others of its conversation; null when it can. One that is replaced is no other. */
export function checkConversationLimits(
  existing: { readonly messages: number; readonly size: number },
  messageSize: number,
  limits: ConversationLimits,
): 'too_many' | 'too_large' | null {
  if (existing.messages >= limits.maxMessages) return 'too_many';
  return existing.size + messageSize > limits.maxSize ? 'too_large' : null;
}
