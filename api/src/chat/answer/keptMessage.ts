import type { ChatMessage, ChatPart } from '@behalf/contracts';
import { LARGEST_KEPT_MESSAGE } from '../limits.ts';

type Answer = Extract<ChatMessage, { role: 'assistant' }>;

/** The message as it is kept: the oldest results are given up first, then arguments, and what was said last, when it is too large as a whole. */
export function keptMessage(message: Answer, most: number = LARGEST_KEPT_MESSAGE): Answer {
  let over = sizeOf(message) - most;
  if (over <= 0) return message;
  let parts = message.parts;
  for (const lighter of [withoutResult, withoutArguments, withoutText]) {
    parts = parts.map((part) => {
      if (over <= 0) return part;
      const light = lighter(part, over);
      over -= sizeOf(part) - sizeOf(light);
      return light;
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
function withoutText(part: ChatPart, over: number): ChatPart {
  if (part.type !== 'text') return part;
  const text = part.text.slice(0, Math.max(0, part.text.length - over)).replace(/[\uD800-\uDBFF]$/, '');
  return { type: 'text', text };
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
