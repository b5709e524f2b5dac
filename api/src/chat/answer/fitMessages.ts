import { MOST_SENT } from '../limits.ts';
import type { ModelMessage } from '../model/model.ts';
import type { Turn } from './history.ts';

export interface Said {
  readonly system: ModelMessage;
  readonly earlier: readonly Turn[];
  /** What the user asks now and what has come of it: never left out. */
  readonly current: readonly ModelMessage[];
}

const LEFT_OUT = '[An earlier result, left out to make room]';

/** As much of it as a model is sent: the oldest turns go first and whole, then the oldest results and arguments of this one. */
export function fitMessages({ system, earlier, current }: Said, most: number = MOST_SENT): ModelMessage[] {
  const own = shorten(current, most - sizeOf(system));
  let left = most - sizeOf(system) - sum(own);
  const kept: Turn[] = [];
  for (const turn of earlier.toReversed()) {
    left -= sum(turn);
    if (left < 0) break;
    kept.unshift(turn);
  }
  return [system, ...kept.flat(), ...own];
}

/** The oldest results are given up first, then the oldest arguments. */
export function shorten(messages: readonly ModelMessage[], most: number): ModelMessage[] {
  let over = sum(messages) - most;
  let kept = [...messages];
  for (const lighter of [withoutResult, withoutArguments]) {
    kept = kept.map((message) => {
      if (over <= 0) return message;
      const light = lighter(message);
      over -= sizeOf(message) - sizeOf(light);
      return light;
    });
  }
  return kept;
}

function withoutResult(message: ModelMessage): ModelMessage {
  if (message.role !== 'tool' || message.content.length <= LEFT_OUT.length) return message;
  return { ...message, content: LEFT_OUT };
}

function withoutArguments(message: ModelMessage): ModelMessage {
  if (!('tool_calls' in message)) return message;
  const calls = message.tool_calls.map((call) => ({
    ...call,
    function: { ...call.function, arguments: '{}' },
  }));
  return { ...message, tool_calls: calls };
}

function sum(messages: readonly ModelMessage[]): number {
  return messages.reduce((size, message) => size + sizeOf(message), 0);
}

function sizeOf(message: ModelMessage): number {
  const calls = 'tool_calls' in message ? JSON.stringify(message.tool_calls).length : 0;
  return (message.content?.length ?? 0) + calls;
}
