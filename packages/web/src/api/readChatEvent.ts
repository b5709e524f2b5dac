import type { ChatEvent, ChatEventName } from '@behalf/contracts';
import type { StreamEvent } from './eventStream.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What each event must have so that nothing fails that reads it. The gateway is trusted for the rest. */
const fits: Readonly<Record<ChatEventName, (data: Fields) => boolean>> = {
  text: ({ text }) => typeof text === 'string',
  tool_call: ({ call }) => isCall(call),
  progress: ({ callId }) => typeof callId === 'string',
  result: ({ call }) => isCall(call),
  approval: ({ callId, expiresAt }) => typeof callId === 'string' && typeof expiresAt === 'number',
  connect: ({ callId, connect }) => typeof callId === 'string' && has(connect, 'server', 'title'),
  error: ({ problem }) => has(problem, 'code', 'title', 'detail'),
  done: ({ conversation, message }) =>
    has(conversation, 'id', 'title') && isFields(message) && Array.isArray(message['parts']),
};

/** An event of a chat; undefined for one that a later gateway may send and this page does not know. */
export function readChatEvent({ event, data }: StreamEvent): ChatEvent | undefined {
  if (!Object.hasOwn(fits, event)) return undefined;
  let read: unknown;
  try {
    read = JSON.parse(data);
  } catch {
    return undefined;
  }
  const isRight = isFields(read) && fits[event as ChatEventName](read);
  return isRight ? ({ event, data: read } as ChatEvent) : undefined;
}

function isCall(value: unknown): boolean {
  return has(value, 'callId', 'server', 'tool', 'state') && isFields(value['arguments']);
}

function has(value: unknown, ...texts: readonly string[]): value is Fields {
  return isFields(value) && texts.every((name) => typeof value[name] === 'string');
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
