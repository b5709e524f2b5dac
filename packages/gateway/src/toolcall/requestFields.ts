import type { BlockRunRequest } from '@behalf/contracts';
import type { RequestFields } from './inbound.ts';

/** What a caller says of the conversation that its request belongs to. */
export function requestFields({
  conversationId,
  parentMessageId,
  messageId,
}: NonNullable<BlockRunRequest['request']>): RequestFields {
  return {
    ...(conversationId !== undefined && { CONVERSATIONID: conversationId }),
    ...(parentMessageId !== undefined && { PARENTMESSAGEID: parentMessageId }),
    ...(messageId !== undefined && { MESSAGEID: messageId }),
  };
}
