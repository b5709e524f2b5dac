import type { ChatCall, ChatMessage, ChatPart } from '@behalf/contracts';
import { LONGEST_RESULT_REMEMBERED } from '../limits.ts';
import type { ModelMessage } from '../model/model.ts';
import { resultText } from '../tool/resultText.ts';

/** What a user said and what came of it: kept or left out as a whole. */
export type Turn = readonly ModelMessage[];

type NameOf = (server: string, tool: string) => string;

/** The conversation so far, as a model is told it: what was said, what was called, and the beginning of what came back. */
export function turnsOf(messages: readonly ChatMessage[], nameOf: NameOf): Turn[] {
  const turns: ModelMessage[][] = [];
  for (const message of messages) {
    if (message.role === 'user') turns.push([{ role: 'user', content: message.text }]);
    else turns.at(-1)?.push(...assistantMessages(message.parts, nameOf));
  }
  return turns;
}

/** A text and the calls after it are one message; results follow it, as the APIs want it. */
function assistantMessages(parts: readonly ChatPart[], nameOf: NameOf): ModelMessage[] {
  const messages: ModelMessage[] = [];
  let text = '';
  let calls: ChatCall[] = [];
  const flush = () => {
    if (text !== '' || calls.length > 0) messages.push(...spoken(text, calls, nameOf));
    text = '';
    calls = [];
  };
  for (const part of parts) {
    if (part.type === 'call') calls.push(part.call);
    else {
      if (calls.length > 0) flush();
      text += part.text;
    }
  }
  flush();
  return messages;
}

function spoken(text: string, calls: readonly ChatCall[], nameOf: NameOf): ModelMessage[] {
  const content = text === '' ? null : text;
  if (calls.length === 0) return [{ role: 'assistant', content }];
  return [
    {
      role: 'assistant',
      content,
      tool_calls: calls.map(({ callId, server, tool, arguments: args }) => ({
        id: callId,
        type: 'function',
        function: { name: nameOf(server, tool), arguments: JSON.stringify(args) },
      })),
    },
    ...calls.map((call): ModelMessage => ({
      role: 'tool',
      tool_call_id: call.callId,
      content: remembered(call),
    })),
  ];
}

function remembered({ state, result, leftOut, problem }: ChatCall): string {
  const notKept = leftOut ? `\n[Not kept: ${leftOut.join(', ')}]` : '';
  if (result) return resultText(result, LONGEST_RESULT_REMEMBERED) + notKept;
  if (problem) return `The call failed: ${problem.detail}`;
  if (state === 'denied') return 'The user did not allow this call.';
  if (state === 'done' || state === 'failed') return 'The call has ended. What it gave is not kept.';
  return 'The call was stopped. Whether it ran is not known.';
}
