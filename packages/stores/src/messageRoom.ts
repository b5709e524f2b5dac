import type { ConversationLimits } from '@behalf/gateway/ports';

/** Why a message cannot be added to the others of its conversation; null when it can. One that is replaced is no other. */
export function lackOfRoom(
  others: { readonly messages: number; readonly size: number },
  size: number,
  room: ConversationLimits,
): 'too_many' | 'too_large' | null {
  if (others.messages >= room.maxMessages) return 'too_many';
  return others.size + size > room.maxSize ? 'too_large' : null;
}
