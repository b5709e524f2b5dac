import {
  MOST_CHAT_ROUNDS,
  MOST_PARALLEL_CALLS,
  type ChatCall,
  type ChatMessage,
  type FinishReason,
} from '@behalf/contracts';
import { GatewayError } from '@behalf/gateway';
import { abortReason, type Random } from '@behalf/kernel';
import { LONGEST_ANSWER, LONGEST_ANSWER_MS, MOST_ARGUMENTS, MOST_SENT } from '../limits.ts';
import type { ModelAnswer, ModelMessage, ModelRequest, WantedCall } from '../model/model.ts';
import { Stopped } from '../stopped.ts';
import type { OfferedTools } from '../tool/offeredTools.ts';
import { prepareCall, type ArgumentRoom, type PreparedCall } from '../tool/prepareCall.ts';
import { runCall, type CallContext, type RunCallParts } from '../tool/runCall.ts';
import { chatProblem } from './chatProblem.ts';
import { fitMessages, shorten } from './fitMessages.ts';
import { turnsOf } from './history.ts';
import { inParallel } from './inParallel.ts';
import { systemMessage } from './systemMessage.ts';

export type AnswerMessage = Extract<ChatMessage, { role: 'assistant' }>;

export interface WriteParts extends RunCallParts {
  readonly random: Random;
}

/** One answer: what it is about, who is asked, and who hears of it. */
export interface Writing extends CallContext {
  readonly message: AnswerMessage;
  /** What was said before, and what the user says now. */
  readonly history: readonly ChatMessage[];
  readonly text: string;
  readonly offered: () => Promise<OfferedTools>;
  /** Asks the model, in the name of who is calling now. */
  readonly ask: (request: Pick<ModelRequest, 'messages' | 'tools' | 'onText'>) => Promise<ModelAnswer>;
  /** Keeps what is there so far. */
  readonly save: () => Promise<void>;
}

/** The model speaks and calls tools until it has nothing more to call. `message` grows with it; never rejects. */
export async function writeAnswer(parts: WriteParts, writing: Writing): Promise<void> {
  const { message, running, tell } = writing;
  try {
    message.finish = await rounds(parts, writing);
  } catch (error) {
    const { signal } = running;
    const stopped = signal.aborted && signal.reason instanceof Stopped ? signal.reason : undefined;
    const told = stopped ? problemOfStop(stopped) : error;
    message.finish = told === undefined ? 'stopped' : 'error';
    if (told === undefined) return;
    message.problem = chatProblem(parts, told);
    await tell('error', { problem: message.problem });
  }
}

const TOO_LATE = `An answer may take ${LONGEST_ANSWER_MS / 60_000} minutes. Ask again, for less at once.`;

/** What the user did themselves is no problem. */
function problemOfStop({ why }: Stopped): GatewayError | undefined {
  if (why === 'shutdown') return new GatewayError('SHUTTING_DOWN');
  if (why === 'late') return new GatewayError('CHAT_LIMIT', { detail: TOO_LATE });
  return why === 'lost' ? new GatewayError('STORE_UNAVAILABLE') : undefined;
}

async function rounds(parts: WriteParts, writing: Writing): Promise<FinishReason> {
  const { history, text, running, save, ask } = writing;
  const tools = await writing.offered();
  const system = systemMessage(tools);
  const earlier = turnsOf(history, tools.nameOf);
  const room: ArgumentRoom = { left: MOST_ARGUMENTS };
  let current: ModelMessage[] = [{ role: 'user', content: text }];
  let spoken = 0;
  for (let round = 1; round <= MOST_CHAT_ROUNDS; round += 1) {
    const messages = fitMessages({ system, earlier, current });
    const said = await ask({ messages, tools: tools.tools, onText: (piece) => speak(writing, piece) });
    spoken += said.text.length;
    if (said.calls.length === 0) return said.finish;
    if (spoken > LONGEST_ANSWER) return 'length';
    const called = await callAll(parts, writing, { tools, room }, said);
    // What will not be sent again is not held either.
    current = shorten([...current, ...called], MOST_SENT);
    // What came after the end is told to nobody.
    if (running.signal.aborted) throw abortReason(running.signal);
    await save();
  }
  return 'rounds';
}

function speak({ message, tell }: Writing, text: string): Promise<void> {
  const last = message.parts.at(-1);
  if (last?.type === 'text') last.text += text;
  else message.parts.push({ type: 'text', text });
  return tell('text', { text });
}

/** All calls of one round, and what the model is told about them. */
async function callAll(
  parts: WriteParts,
  writing: Writing,
  { tools, room }: { readonly tools: OfferedTools; readonly room: ArgumentRoom },
  said: ModelAnswer,
): Promise<ModelMessage[]> {
  const { message, tell } = writing;
  const prepared = said.calls.map((wanted) => prepareCall(wanted, tools, parts.random, room));
  for (const { call } of prepared) message.parts.push({ type: 'call', call });
  for (const { call } of prepared) await tell('tool_call', { call: { ...call, state: 'running' } });
  const results = await inParallel(prepared, MOST_PARALLEL_CALLS, (one) => callOne(parts, writing, one));
  return [
    {
      role: 'assistant',
      content: said.text === '' ? null : said.text,
      tool_calls: prepared.map(({ call }, index) => echo(call, said.calls[index])),
    },
    ...prepared.map(({ call }, index): ModelMessage => ({
      role: 'tool',
      tool_call_id: call.callId,
      content: results[index] ?? '',
    })),
  ];
}

async function callOne(
  parts: WriteParts,
  writing: Writing,
  { call, refusal }: PreparedCall,
): Promise<string> {
  if (refusal === undefined) return runCall(parts, writing, call);
  await writing.tell('result', { call });
  return refusal;
}

/** The call as the model is reminded of it: in the letters that APIs take, whatever it wrote. */
function echo({ callId, arguments: args }: ChatCall, wanted: WantedCall | undefined) {
  const name = (wanted?.name ?? '').replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unknown';
  return { id: callId, type: 'function' as const, function: { name, arguments: JSON.stringify(args) } };
}
