import type { ChatMessage, ChatPart } from '@behalf/contracts';
import { MAX_STORED_MESSAGE_BYTES } from '../limits.ts';

type AssistantMessage = Extract<ChatMessage, { role: 'assistant' }>;

/** The message as it is kept: the oldest results are given up first, then arguments, and what was said last, when it is too large as a whole. */
export function truncateMessage(
  message: AssistantMessage,
  maxBytes: number = MAX_STORED_MESSAGE_BYTES,
): AssistantMessage {
  let excess = sizeOf(message) - maxBytes;
  if (excess <= 0) return message;
  let parts = message.parts;
  for (const reduce of [withoutResult, withoutArguments, withoutText]) {
    parts = parts.map((part) => {
      if (excess <= 0) return part;
      const reduced = reduce(part, excess);
      excess -= sizeOf(part) - sizeOf(reduced);
      return reduced;
    });
  }
  return { ...message, parts };
}

function withoutResult(part: ChatPart): ChatPart {
  if (part.type !== 'call' || !part.call.result) return part;
  const { result: _, ...rest } = part.call;
  return { type: 'call', call: { ...rest, isCut: true } };
}

function withoutArguments(part: ChatPart): ChatPart {
  return part.type === 'call' ? { type: 'call', call: { ...part.call, arguments: {}, isCut: true } } : part;
}

/** A character takes a byte at least. Half a pair at the end is none, and takes more than the pair. */
function withoutText(part: ChatPart, excess: number): ChatPart {
  if (part.type !== 'text') return part;
  const text = part.text.slice(0, Math.max(0, part.text.length - excess)).replace(/[\uD800-\uDBFF]$/, '');
  return { type: 'text', text };
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
