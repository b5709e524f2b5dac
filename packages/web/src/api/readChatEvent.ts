import type { ChatEvent, ChatEventName } from '@behalf/contracts';
import type { StreamEvent } from './eventStream.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** What each event must have so that nothing fails that reads it. The gateway is trusted for the rest. */
const validators: Readonly<Record<ChatEventName, (data: JsonObject) => boolean>> = {
  text: ({ text }) => typeof text === 'string',
  tool_call: ({ call }) => isCall(call),
  progress: ({ callId }) => typeof callId === 'string',
  result: ({ call }) => isCall(call),
  approval: ({ callId, expiresAt }) => typeof callId === 'string' && typeof expiresAt === 'number',
  connect: ({ callId, connect }) => typeof callId === 'string' && hasStrings(connect, 'server', 'title'),
  error: ({ problem }) => hasStrings(problem, 'code', 'title', 'detail'),
  done: ({ conversation, message }) =>
    hasStrings(conversation, 'id', 'title') && isObject(message) && Array.isArray(message['parts']),
};

/** An event of a chat; undefined for one that a later gateway may send and this page does not know. */
export function readChatEvent({ event, data }: StreamEvent): ChatEvent | undefined {
  if (!Object.hasOwn(validators, event)) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(data);
  } catch {
    return undefined;
  }
  const isValid = isObject(parsed) && validators[event as ChatEventName](parsed);
  return isValid ? ({ event, data: parsed } as ChatEvent) : undefined;
}

function isCall(value: unknown): boolean {
  return hasStrings(value, 'callId', 'server', 'tool', 'state') && isObject(value['arguments']);
}

function hasStrings(value: unknown, ...keys: readonly string[]): value is JsonObject {
  return isObject(value) && keys.every((name) => typeof value[name] === 'string');
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
