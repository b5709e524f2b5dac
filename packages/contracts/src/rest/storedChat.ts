import { z } from 'zod';
import { ChatCall, ChatMessage, ChatPart, type ToolResult } from './chat.ts';

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

const [text, call] = ChatPart.options;
const [userMessage, assistantMessage] = ChatMessage.options;

/**
 * A message as it is kept. What a model sent and what a server gave is not walked through: the seal says that nobody
 * changed it, and a conversation has many mebibytes of it.
 */
export const StoredChatMessage = z.discriminatedUnion('role', [
  userMessage,
  assistantMessage.extend({
    parts: z.array(
      z.discriminatedUnion('type', [
        text,
        call.extend({
          call: ChatCall.extend({
            arguments: z.custom<Record<string, unknown>>(isObject),
            result: z.custom<ToolResult>(isObject).optional(),
          }),
        }),
      ]),
    ),
  }),
]);
