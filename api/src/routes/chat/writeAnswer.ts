import {
  type ChatCall,
  type ChatMessage,
  type ChatProblem,
  type ChatRequest,
  type ConversationSummary,
  type FinishReason,
  MAX_CHAT_ROUNDS,
  MAX_PARALLEL_CHAT_CALLS,
} from '@behalf/contracts';
import {
  type CallParts,
  GatewayError,
  type ListToolsParts,
  type Principal,
  type RequestFields,
  type UserPrincipal,
  listAllowedServers,
  listToolsOfServers,
} from '@behalf/gateway';
import { type Random, Semaphore, abortReason } from '@behalf/kernel';
import type { Request } from 'express';
import type { Logger } from '../../runtime/logger.ts';
import { createRestInbound } from '../../http/inbound.ts';
import { type AnswerRun, AnswerStopped } from './answerRuns.ts';
import {
  MAX_ANSWER_ARGUMENTS_LENGTH,
  MAX_ANSWER_LENGTH,
  MAX_ANSWER_MS,
  MAX_MODEL_INPUT_LENGTH,
} from './limits.ts';
import type { ModelMessage, ModelResponse, RequestCompletion, RequestedCall } from './modelClient.ts';
import { fitMessages, shorten, systemMessage, toTurns } from './modelContext.ts';
import { renderModelHeaders } from './modelHeaders.ts';
import type { ChosenModel } from './models.ts';
import {
  type ArgumentBudget,
  type OfferedTools,
  type PreparedCall,
  prepareCall,
  sanitizeName,
  selectOfferedTools,
} from './offeredTools.ts';
import { type ChatCallContext, type ChatEventWriter, type RunCallParts, runCall } from './runCall.ts';

export type AnswerMessage = Extract<ChatMessage, { role: 'assistant' }>;

export interface WriteAnswerParts extends RunCallParts {
  readonly callParts: CallParts & ListToolsParts;
  readonly random: Random;
  readonly requestCompletion: RequestCompletion;
  /** Authenticates the credentials of the request again. An answer takes minutes, and they may have been revoked. */
  readonly resolveCaller: (req: Request) => Principal | Promise<Principal>;
  readonly requestIds: () => string;
  readonly logger: Logger;
}

/** A user message that is stored in its conversation and waits for an answer. */
export interface ChatQuestion {
  readonly req: Request;
  readonly caller: UserPrincipal;
  readonly chatRequest: ChatRequest;
  readonly model: ChosenModel;
  readonly run: AnswerRun;
  readonly conversation: ConversationSummary;
  readonly messageId: string;
  /** The messages before this one. */
  readonly history: readonly ChatMessage[];
}

interface AnswerOutput {
  /** Grows while the answer is generated. */
  readonly message: AnswerMessage;
  readonly emit: ChatEventWriter;
  /** Stores the message as it is so far. */
  readonly save: () => Promise<void>;
}

/** Everything that one answer needs beside the parts of the gateway. */
type AnswerContext = ChatQuestion & AnswerOutput & ChatCallContext & { readonly fields: RequestFields };

/** LibreChat's parent id of the first message of a conversation. */
const NO_PARENT_ID = '00000000-0000-0000-0000-000000000000';

/**
 * The loop of one answer: the model responds and calls tools until it requests no more calls. Never rejects: a failure is
 * recorded in `message` and sent as an event.
 */
export async function writeAnswer(
  parts: WriteAnswerParts,
  question: ChatQuestion,
  output: AnswerOutput,
): Promise<void> {
  const { req, run, messageId, history, conversation } = question;
  const { message, emit } = output;
  const fields: RequestFields = {
    CONVERSATIONID: conversation.id,
    PARENTMESSAGEID: history.at(-1)?.id ?? NO_PARENT_ID,
    MESSAGEID: messageId,
  };
  const context: AnswerContext = {
    ...{ ...question, ...output, fields },
    approvalRequests: new Map(),
    reauthenticate: () => reauthenticateCaller(parts, question),
    createInbound: (caller) => ({
      ...createRestInbound({ caller, headers: req.headers, signal: run.signal, id: parts.requestIds() }),
      door: 'chat',
      fields,
      request: message.id,
    }),
  };
  try {
    message.finish = await runRounds(parts, context);
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

/** The caller of the request, if they are still signed in as the same user and still have the permission USE. */
async function reauthenticateCaller(
  { resolveCaller, callParts }: WriteAnswerParts,
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

const ANSWER_TIMEOUT_DETAIL = `An answer may take ${MAX_ANSWER_MS / 60_000} minutes. Ask again, for less at once.`;

/** Undefined if the user stopped the answer or disconnected: neither is an error. */
function stopToError({ reason }: AnswerStopped): GatewayError | undefined {
  if (reason === 'shutdown') return new GatewayError('SHUTTING_DOWN');
  if (reason === 'timeout') return new GatewayError('CHAT_LIMIT', { detail: ANSWER_TIMEOUT_DETAIL });
  return reason === 'lease_lost' ? new GatewayError('STORE_UNAVAILABLE') : undefined;
}

/** The problem that the client of an answer receives. */
export function chatProblem({ problemOf }: Pick<RunCallParts, 'problemOf'>, error: unknown): ChatProblem {
  const { code, title, detail } = problemOf(error).problem;
  return { code, title, detail };
}

async function runRounds(parts: WriteAnswerParts, context: AnswerContext): Promise<FinishReason> {
  const { history, chatRequest, run, save } = context;
  const tools = await loadTools(parts, context);
  const system = systemMessage(tools);
  const earlierTurns = toTurns(history, tools.nameOf);
  const argumentBudget: ArgumentBudget = { remaining: MAX_ANSWER_ARGUMENTS_LENGTH };
  let currentMessages: ModelMessage[] = [{ role: 'user', content: chatRequest.text }];
  let textLength = 0;
  for (let round = 1; round <= MAX_CHAT_ROUNDS; round += 1) {
    const messages = fitMessages({ system, earlierTurns, currentMessages });
    const response = await requestCompletion(parts, context, messages, tools);
    textLength += response.text.length;
    if (response.calls.length === 0) return response.finish;
    if (textLength > MAX_ANSWER_LENGTH) return 'length';
    const callMessages = await runCalls(parts, context, { tools, argumentBudget }, response);
    // Content beyond the limit of the model input is never sent again, so it is released here.
    currentMessages = shorten([...currentMessages, ...callMessages], MAX_MODEL_INPUT_LENGTH);
    if (run.signal.aborted) throw abortReason(run.signal);
    await save();
  }
  return 'rounds';
}

async function loadTools({ callParts }: WriteAnswerParts, context: AnswerContext): Promise<OfferedTools> {
  const { chatRequest, reauthenticate, createInbound } = context;
  const caller = await reauthenticate();
  const servers = listAllowedServers(callParts, caller).filter(
    ({ name }) => chatRequest.servers?.includes(name) ?? true,
  );
  return selectOfferedTools(await listToolsOfServers(callParts, createInbound(caller), servers));
}

async function requestCompletion(
  parts: WriteAnswerParts,
  context: AnswerContext,
  messages: readonly ModelMessage[],
  { tools }: OfferedTools,
): Promise<ModelResponse> {
  const { model, run, fields, caller, message, emit, reauthenticate } = context;
  const onText = (text: string) => {
    const last = message.parts.at(-1);
    if (last?.type === 'text') last.text += text;
    else message.parts.push({ type: 'text', text });
    return emit('text', { text });
  };
  try {
    const headers = renderModelHeaders(model.endpoint, await reauthenticate(), fields);
    const request = { messages, tools, headers, signal: run.signal, onText };
    return await parts.requestCompletion(model.endpoint, model.model, request);
  } catch (error) {
    if (error instanceof GatewayError) {
      const { code, detail } = error;
      parts.logger.warn('A model request failed', {
        ...{ code, detail, endpoint: model.endpoint.name, model: model.model, user: caller.userId },
      });
    }
    throw error;
  }
}

/** Runs all calls of one round. Returns the messages that describe them to the model. */
async function runCalls(
  parts: WriteAnswerParts,
  context: AnswerContext,
  { tools, argumentBudget }: { readonly tools: OfferedTools; readonly argumentBudget: ArgumentBudget },
  response: ModelResponse,
): Promise<ModelMessage[]> {
  const { message, emit } = context;
  const prepared = response.calls.map((requested) =>
    prepareCall(requested, tools, parts.random, argumentBudget),
  );
  for (const { call } of prepared) message.parts.push({ type: 'call', call });
  for (const { call } of prepared) await emit('tool_call', { call: { ...call, state: 'running' } });
  const semaphore = new Semaphore(MAX_PARALLEL_CHAT_CALLS);
  const results = await Promise.all(
    prepared.map((call) => semaphore.run(() => runPreparedCall(parts, context, call))),
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
  context: AnswerContext,
  { call, errorText }: PreparedCall,
): Promise<string> {
  if (errorText === undefined) return runCall(parts, context, call);
  await context.emit('result', { call });
  return errorText;
}

/** The call in the history of the model. Model APIs restrict the characters of a name, also of one that the model made up. */
function toModelCall({ callId, arguments: args }: ChatCall, requested: RequestedCall | undefined) {
  const name = sanitizeName(requested?.name ?? '') || 'unknown';
  return { id: callId, type: 'function' as const, function: { name, arguments: JSON.stringify(args) } };
}
