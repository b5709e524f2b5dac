import {
  type ChatCall,
  type ChatMessage,
  type ChatProblem,
  type ChatRequest,
  type FinishReason,
  MAX_CHAT_ROUNDS,
  MAX_PARALLEL_CHAT_CALLS,
  type Problem,
} from '@behalf/contracts';
import {
  type CallParts,
  GatewayError,
  type Inbound,
  type ListToolsParts,
  type Principal,
  type RequestFields,
  type UserPrincipal,
  listAllowedServers,
  listToolsOfServers,
} from '@behalf/gateway';
import { type Random, abortReason } from '@behalf/kernel';
import type { Request } from 'express';
import type { Logger } from '../../runtime/logger.ts';
import { createRestInbound } from '../rest/serverResponder.ts';
import { type AnswerRun, AnswerStopped } from './answerRuns.ts';
import {
  MAX_ANSWER_ARGUMENTS_LENGTH,
  MAX_ANSWER_LENGTH,
  MAX_ANSWER_MS,
  MAX_MODEL_INPUT_LENGTH,
} from './limits.ts';
import {
  type ModelMessage,
  type ModelRequest,
  type ModelResponse,
  type RequestCompletion,
  type RequestedCall,
  modelHeaders,
} from './modelClient.ts';
import { fitMessages, shorten, systemMessage, toTurns } from './modelContext.ts';
import type { ChosenModel } from './models.ts';
import {
  type ArgumentBudget,
  type OfferedTools,
  type PreparedCall,
  prepareCall,
  selectOfferedTools,
} from './offeredTools.ts';
import { type ChatCallContext, type RunCallParts, runCall } from './runCall.ts';

export type AnswerMessage = Extract<ChatMessage, { role: 'assistant' }>;

export interface WriteAnswerParts extends RunCallParts {
  readonly random: Random;
}

/** One answer: what it is about, who is asked, and who hears of it. */
interface AnswerRequest extends ChatCallContext {
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

export interface AnswerRequestParts {
  readonly callParts: CallParts & ListToolsParts;
  readonly requestCompletion: RequestCompletion;
  /** Who is calling, by what they sent with the request: asked again while the answer is written. */
  readonly resolveCaller: (req: Request) => Principal | Promise<Principal>;
  readonly requestIds: () => string;
  readonly logger: Logger;
}

/** What was asked, and by whom. */
interface ChatQuestion {
  readonly req: Request;
  readonly caller: UserPrincipal;
  readonly chatRequest: ChatRequest;
  readonly model: ChosenModel;
  readonly run: AnswerRun;
  readonly conversationId: string;
  /** The message that asks, and those before it. */
  readonly messageId: string;
  readonly history: readonly ChatMessage[];
}

/** LibreChat's word for a message that answers none. */
const NO_PARENT_ID = '00000000-0000-0000-0000-000000000000';

/** In whose name the model and the tools are asked for an answer. */
export function createAnswerRequest(
  parts: AnswerRequestParts,
  question: ChatQuestion,
  { message, ...output }: Pick<AnswerRequest, 'message' | 'emit' | 'save'>,
): AnswerRequest {
  const { callParts, requestCompletion, requestIds, logger } = parts;
  const { req, chatRequest, model, run, conversationId, messageId, history } = question;
  const { signal } = run;
  const fields: RequestFields = {
    CONVERSATIONID: conversationId,
    PARENTMESSAGEID: history.at(-1)?.id ?? NO_PARENT_ID,
    MESSAGEID: messageId,
  };
  const reauthenticate = () => recheckCaller(parts, question);
  const createInbound = (currentCaller: UserPrincipal): Inbound => ({
    ...createRestInbound({ caller: currentCaller, headers: req.headers, signal, id: requestIds() }),
    ...{ door: 'chat', fields, request: message.id },
  });
  return {
    ...{ message, ...output, history, text: chatRequest.text, run, reauthenticate, createInbound },
    approvalRequests: new Map(),
    async loadTools() {
      const currentCaller = await reauthenticate();
      const selectedServers = listAllowedServers(callParts, currentCaller).filter(
        ({ name }) => chatRequest.servers?.includes(name) ?? true,
      );
      return selectOfferedTools(
        await listToolsOfServers(callParts, createInbound(currentCaller), selectedServers),
      );
    },
    async requestCompletion(request) {
      try {
        const headers = modelHeaders(model.endpoint, await reauthenticate(), fields);
        return await requestCompletion(model.endpoint, model.model, { ...request, headers, signal });
      } catch (error) {
        if (error instanceof GatewayError) logFailure(logger, question, error);
        throw error;
      }
    },
  };
}

/** An answer takes minutes. Who signed out, was locked out or may not use servers any more is not answered further. */
async function recheckCaller(
  { resolveCaller, callParts }: AnswerRequestParts,
  { req, caller }: ChatQuestion,
): Promise<UserPrincipal> {
  const currentCaller = await resolveCaller(req);
  if (
    currentCaller.kind !== 'user' ||
    currentCaller.userId !== caller.userId ||
    currentCaller.tenant !== caller.tenant
  ) {
    throw new GatewayError('AUTH_REQUIRED');
  }
  callParts.requirePermission()(currentCaller, 'USE');
  return currentCaller;
}

function logFailure(logger: Logger, { caller, model }: ChatQuestion, { code, detail }: GatewayError): void {
  const { endpoint } = model;
  logger.warn('A model request failed', {
    ...{ code, detail, endpoint: endpoint.name, model: model.model, user: caller.userId },
  });
}

/** Why an answer could not be finished, as its reader is told. */
export function chatProblem(
  { problemOf }: { readonly problemOf: (error: unknown) => { problem: Problem } },
  error: unknown,
): ChatProblem {
  const { code, title, detail } = problemOf(error).problem;
  return { code, title, detail };
}

/** Does the work for each, so many side by side, the others in their order as places become free. Results in order. */
async function mapWithConcurrency<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const pending = [...items.entries()];
  const worker = async () => {
    for (let next = pending.shift(); next; next = pending.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
