import { MAX_MODEL_INPUT_LENGTH } from '../limits.ts';
import type { ModelMessage } from '../model/model.ts';
import type { ChatTurn } from './history.ts';

export interface ModelContext {
  readonly system: ModelMessage;
  readonly earlierTurns: readonly ChatTurn[];
  /** What the user asks now and what has come of it: never left out. */
  readonly currentMessages: readonly ModelMessage[];
}

const OMITTED_RESULT = '[An earlier result, omitted to save space]';

/** As much of it as a model is sent: the oldest turns go first and whole, then the oldest results and arguments of this one. */
export function fitMessages(
  { system, earlierTurns, currentMessages }: ModelContext,
  maxLength: number = MAX_MODEL_INPUT_LENGTH,
): ModelMessage[] {
  const shortened = shorten(currentMessages, maxLength - lengthOf(system));
  let remaining = maxLength - lengthOf(system) - totalLength(shortened);
  const included: ChatTurn[] = [];
  for (const turn of earlierTurns.toReversed()) {
    remaining -= totalLength(turn);
    if (remaining < 0) break;
    included.unshift(turn);
  }
  return [system, ...included.flat(), ...shortened];
}

/** The oldest results are given up first, then the oldest arguments. */
export function shorten(messages: readonly ModelMessage[], maxLength: number): ModelMessage[] {
  let excess = totalLength(messages) - maxLength;
  let included = [...messages];
  for (const reduce of [withoutResult, withoutArguments]) {
    included = included.map((message) => {
      if (excess <= 0) return message;
      const reduced = reduce(message);
      excess -= lengthOf(message) - lengthOf(reduced);
      return reduced;
    });
  }
  return included;
}

function withoutResult(message: ModelMessage): ModelMessage {
  if (message.role !== 'tool' || message.content.length <= OMITTED_RESULT.length) return message;
  return { ...message, content: OMITTED_RESULT };
}

function withoutArguments(message: ModelMessage): ModelMessage {
  if (!('tool_calls' in message)) return message;
  const calls = message.tool_calls.map((call) => ({
    ...call,
    function: { ...call.function, arguments: '{}' },
  }));
  return { ...message, tool_calls: calls };
}

function totalLength(messages: readonly ModelMessage[]): number {
  return messages.reduce((size, message) => size + lengthOf(message), 0);
}

function lengthOf(message: ModelMessage): number {
  const calls = 'tool_calls' in message ? JSON.stringify(message.tool_calls).length : 0;
  return (message.content?.length ?? 0) + calls;
}
