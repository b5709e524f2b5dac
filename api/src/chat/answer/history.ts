import type { ChatCall, ChatMessage, ChatPart } from '@behalf/contracts';
import { MAX_HISTORY_RESULT_LENGTH } from '../limits.ts';
import type { ModelMessage } from '../model/model.ts';
import { toModelText } from '../tool/toModelText.ts';

/** What a user said and what came of it: kept or left out as a whole. */
export type ChatTurn = readonly ModelMessage[];

type ToolNameOf = (server: string, tool: string) => string;

/** The conversation so far, as a model is told it: what was said, what was called, and the beginning of what came back. */
export function toTurns(messages: readonly ChatMessage[], toolNameOf: ToolNameOf): ChatTurn[] {
  const turns: ModelMessage[][] = [];
  for (const message of messages) {
    if (message.role === 'user') turns.push([{ role: 'user', content: message.text }]);
    else turns.at(-1)?.push(...assistantMessages(message.parts, toolNameOf));
  }
  return turns;
}

/** A text and the calls after it are one message; results follow it, as the APIs want it. */
function assistantMessages(parts: readonly ChatPart[], toolNameOf: ToolNameOf): ModelMessage[] {
  const messages: ModelMessage[] = [];
  let text = '';
  let calls: ChatCall[] = [];
  const flush = () => {
    if (text !== '' || calls.length > 0) messages.push(...toModelMessages(text, calls, toolNameOf));
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

function toModelMessages(text: string, calls: readonly ChatCall[], toolNameOf: ToolNameOf): ModelMessage[] {
  const content = text === '' ? null : text;
  if (calls.length === 0) return [{ role: 'assistant', content }];
  return [
    {
      role: 'assistant',
      content,
      tool_calls: calls.map(({ callId, server, tool, arguments: args }) => ({
        id: callId,
        type: 'function',
        function: { name: toolNameOf(server, tool), arguments: JSON.stringify(args) },
      })),
    },
    ...calls.map((call): ModelMessage => ({
      role: 'tool',
      tool_call_id: call.callId,
      content: describeResult(call),
    })),
  ];
}

function describeResult({ state, result, leftOut, problem }: ChatCall): string {
  const omittedNote = leftOut ? `\n[Not stored: ${leftOut.join(', ')}]` : '';
  if (result) return toModelText(result, MAX_HISTORY_RESULT_LENGTH) + omittedNote;
  if (problem) return `The call failed: ${problem.detail}`;
  if (state === 'denied') return 'The user did not allow this call.';
  if (state === 'done' || state === 'failed') return 'The call has ended. Its result is not stored.';
  return 'The call was stopped. It is unknown whether it ran.';
}
