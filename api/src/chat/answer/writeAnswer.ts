import {
  MAX_CHAT_ROUNDS,
  MAX_PARALLEL_CHAT_CALLS,
  type ChatCall,
  type ChatMessage,
  type FinishReason,
} from '@behalf/contracts';
import { GatewayError } from '@behalf/gateway';
import { abortReason, type Random } from '@behalf/kernel';
import {
  MAX_ANSWER_LENGTH,
  MAX_ANSWER_MS,
  MAX_ANSWER_ARGUMENTS_LENGTH,
  MAX_MODEL_INPUT_LENGTH,
} from '../limits.ts';
import type { ModelResponse, ModelMessage, ModelRequest, RequestedCall } from '../model/model.ts';
import { AnswerStopped } from '../answerStopped.ts';
import type { OfferedTools } from '../tool/offeredTools.ts';
import { prepareCall, type ArgumentBudget, type PreparedCall } from '../tool/prepareCall.ts';
import { runCall, type ChatCallContext, type RunCallParts } from '../tool/runCall.ts';
import { chatProblem } from './chatProblem.ts';
import { fitMessages, shorten } from './fitMessages.ts';
import { toTurns } from './history.ts';
import { mapWithConcurrency } from './mapWithConcurrency.ts';
import { systemMessage } from './systemMessage.ts';

export type AnswerMessage = Extract<ChatMessage, { role: 'assistant' }>;

export interface WriteAnswerParts extends RunCallParts {
  readonly random: Random;
}

/** One answer: what it is about, who is asked, and who hears of it. */
export interface AnswerRequest extends ChatCallContext {
  readonly message: AnswerMessage;
  /** What was said before, and what the user says now. */
  readonly history: readonly ChatMessage[];
  readonly text: string;
  readonly loadTools: () => Promise<OfferedTools>;
  /** Asks the model, in the name of who is calling now. */
  readonly requestCompletion: (
    request: Pick<ModelRequest, 'messages' | 'tools' | 'onText'>,
  ) => Promise<ModelResponse>;
  /** Keeps what is there so far. */
  readonly save: () => Promise<void>;
}

/** The model speaks and calls tools until it has nothing more to call. `message` grows with it; never rejects. */
export async function writeAnswer(parts: WriteAnswerParts, request: AnswerRequest): Promise<void> {
  const { message, run, emit } = request;
  try {
    message.finish = await runRounds(parts, request);
  } catch (error) {
    const { signal } = run;
    const stopError = signal.aborted && signal.reason instanceof AnswerStopped ? signal.reason : undefined;
    const problem = stopError ? stopToError(stopError) : error;
    message.finish = problem === undefined ? 'stopped' : 'error';
    if (problem === undefined) return;
    message.problem = chatProblem(parts, problem);
    await emit('error', { problem: message.problem });
  }
}

const ANSWER_TIMEOUT_DETAIL = `An answer may take ${MAX_ANSWER_MS / 60_000} minutes. Ask again, for less at once.`;

/** What the user did themselves is no problem. */
function stopToError({ reason }: AnswerStopped): GatewayError | undefined {
  if (reason === 'shutdown') return new GatewayError('SHUTTING_DOWN');
  if (reason === 'timeout') return new GatewayError('CHAT_LIMIT', { detail: ANSWER_TIMEOUT_DETAIL });
  return reason === 'lease_lost' ? new GatewayError('STORE_UNAVAILABLE') : undefined;
}

async function runRounds(parts: WriteAnswerParts, request: AnswerRequest): Promise<FinishReason> {
  const { history, text, run, save, requestCompletion } = request;
  const tools = await request.loadTools();
  const system = systemMessage(tools);
  const earlierTurns = toTurns(history, tools.nameOf);
  const argumentBudget: ArgumentBudget = { remaining: MAX_ANSWER_ARGUMENTS_LENGTH };
  let currentMessages: ModelMessage[] = [{ role: 'user', content: text }];
  let textLength = 0;
  for (let round = 1; round <= MAX_CHAT_ROUNDS; round += 1) {
    const messages = fitMessages({ system, earlierTurns, currentMessages });
    const response = await requestCompletion({
      messages,
      tools: tools.tools,
      onText: (piece) => appendText(request, piece),
    });
    textLength += response.text.length;
    if (response.calls.length === 0) return response.finish;
    if (textLength > MAX_ANSWER_LENGTH) return 'length';
    const callMessages = await runCalls(parts, request, { tools, argumentBudget }, response);
    // What will not be sent again is not held either.
    currentMessages = shorten([...currentMessages, ...callMessages], MAX_MODEL_INPUT_LENGTH);
    // What came after the end is told to nobody.
    if (run.signal.aborted) throw abortReason(run.signal);
    await save();
  }
  return 'rounds';
}

function appendText({ message, emit }: AnswerRequest, text: string): Promise<void> {
  const last = message.parts.at(-1);
  if (last?.type === 'text') last.text += text;
  else message.parts.push({ type: 'text', text });
  return emit('text', { text });
}

/** All calls of one round, and what the model is told about them. */
async function runCalls(
  parts: WriteAnswerParts,
  request: AnswerRequest,
  { tools, argumentBudget }: { readonly tools: OfferedTools; readonly argumentBudget: ArgumentBudget },
  response: ModelResponse,
): Promise<ModelMessage[]> {
  const { message, emit } = request;
  const prepared = response.calls.map((requested) =>
    prepareCall(requested, tools, parts.random, argumentBudget),
  );
  for (const { call } of prepared) message.parts.push({ type: 'call', call });
  for (const { call } of prepared) await emit('tool_call', { call: { ...call, state: 'running' } });
  const results = await mapWithConcurrency(prepared, MAX_PARALLEL_CHAT_CALLS, (call) =>
    runPreparedCall(parts, request, call),
  );
  return [
    {
      role: 'assistant',
      content: response.text === '' ? null : response.text,
      tool_calls: prepared.map(({ call }, index) => toModelCall(call, response.calls[index])),
    },
    ...prepared.map(({ call }, index): ModelMessage => ({
      role: 'tool',
      tool_call_id: call.callId,
      content: results[index] ?? '',
    })),
  ];
}

async function runPreparedCall(
  parts: WriteAnswerParts,
  request: AnswerRequest,
  { call, errorText }: PreparedCall,
): Promise<string> {
  if (errorText === undefined) return runCall(parts, request, call);
  await request.emit('result', { call });
  return errorText;
}

/** The call as the model is reminded of it: in the letters that APIs take, whatever it wrote. */
function toModelCall({ callId, arguments: args }: ChatCall, requested: RequestedCall | undefined) {
  const name = (requested?.name ?? '').replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unknown';
  return { id: callId, type: 'function' as const, function: { name, arguments: JSON.stringify(args) } };
}
