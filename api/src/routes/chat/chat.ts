import {
  type ChatMessage,
  type ChatPart,
  ChatRequest,
  type ConversationSummary,
  createConversationTitle,
} from '@behalf/contracts';
import type { Conversations, UserPrincipal } from '@behalf/gateway';
import type { Request, Response } from 'express';
import { callerDisconnect, readBody } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';
import { createEventStream } from '../../http/sse.ts';
import {
  type AnswerRun,
  type AnswerRuns,
  type ChatEventWriter,
  createChatEventWriter,
} from './answerRuns.ts';
import { MAX_STORED_MESSAGE_BYTES } from './limits.ts';
import type { ChosenModel, Models } from './models.ts';
import {
  type AnswerMessage,
  type AnswerRequestParts,
  type WriteAnswerParts,
  chatProblem,
  createAnswerRequest,
  writeAnswer,
} from './writeAnswer.ts';

export interface ChatRouteParts extends WriteAnswerParts, AnswerRequestParts {
  readonly callParts: AnswerRequestParts['callParts'];
  readonly conversations: Conversations;
  readonly models: Models;
  readonly answerRuns: AnswerRuns;
  readonly headers: Readonly<Record<string, string>>;
}

/** Somebody says something, and hears the answer as it is written. */
export function chatRoute(parts: ChatRouteParts): Route {
  const { callParts, answerRuns, models } = parts;
  return {
    method: 'post',
    path: '/api/chat',
    access: 'signed-in',
    scope: 'mcp',
    async handle(req, res, caller) {
      callParts.requirePermission()(caller, 'USE');
      const chatRequest = readBody(req, ChatRequest);
      const run = answerRuns.start(caller, callerDisconnect(res));
      try {
        const model = await models.choose(caller, chatRequest);
        const storedQuestion = await storeQuestion(parts, { req, caller, chatRequest, model, run });
        // From here on what goes wrong is part of the conversation, and told as an event.
        await streamAnswer(parts, storedQuestion, res);
      } finally {
        await run.end();
      }
    },
  };
}

interface ChatQuestionInput {
  readonly req: Request;
  readonly caller: UserPrincipal;
  readonly chatRequest: ChatRequest;
  readonly model: ChosenModel;
  readonly run: AnswerRun;
}

/** A question that is kept. */
interface StoredQuestion extends ChatQuestionInput {
  readonly conversation: ConversationSummary;
  readonly history: readonly ChatMessage[];
  readonly messageId: string;
}

async function storeQuestion(parts: ChatRouteParts, input: ChatQuestionInput): Promise<StoredQuestion> {
  const { conversations, random, clock } = parts;
  const { caller, chatRequest } = input;
  const { conversation, history } = await openConversation(parts, input);
  const question: ChatMessage = { id: random.id(), role: 'user', text: chatRequest.text, at: clock.now() };
  const summary = await conversations.saveMessage(caller, conversation.id, question);
  return { ...input, conversation: summary, history, messageId: question.id };
}

async function openConversation(
  { conversations }: ChatRouteParts,
  { caller, chatRequest, run }: ChatQuestionInput,
): Promise<{ conversation: ConversationSummary; history: readonly ChatMessage[] }> {
  const { conversationId, text } = chatRequest;
  if (conversationId === undefined) {
    const conversation = await conversations.create(caller, createConversationTitle(text));
    await run.lockConversation(conversation.id);
    return { conversation, history: [] };
  }
  // Before it is read: what another answer is about to add is part of what was said before.
  await run.lockConversation(conversationId);
  const { conversation, messages } = await conversations.open(caller, conversationId);
  return { conversation, history: recentMessages(messages) };
}

async function streamAnswer(
  parts: ChatRouteParts,
  storedQuestion: StoredQuestion,
  res: Response,
): Promise<void> {
  const { clock, headers } = parts;
  const events = createEventStream(res, {
    clock,
    // What is told piece by piece must not be collected on its way.
    headers: {
      ...headers,
      'Cache-Control': 'no-store, no-transform',
      'Content-Location': `/api/chat/${storedQuestion.conversation.id}`,
    },
  });
  try {
    events.open();
    const doneEvent = await generateAnswer(parts, storedQuestion, createChatEventWriter(events));
    // Before its reader knows that it is over: the next question may come at once.
    await storedQuestion.run.end();
    events.end('done', JSON.stringify(doneEvent));
  } finally {
    events.close();
  }
}

async function generateAnswer(parts: ChatRouteParts, storedQuestion: StoredQuestion, emit: ChatEventWriter) {
  const { conversations, clock, random } = parts;
  const { caller, model } = storedQuestion;
  let { conversation } = storedQuestion;
  const message: AnswerMessage = {
    ...{ id: random.id(), role: 'assistant', parts: [], model: model.model, at: clock.now() },
  };
  const save = async () => {
    // What is not kept is not held for the rest of the answer either.
    message.parts = truncateMessage(message).parts;
    conversation = await conversations.saveMessage(caller, conversation.id, message);
  };
  const question = { ...storedQuestion, conversationId: conversation.id };
  await writeAnswer(parts, createAnswerRequest(parts, question, { message, emit, save }));
  try {
    await save();
  } catch (error) {
    // What was said is told, and that it will not be there the next time.
    message.finish = 'error';
    message.problem = chatProblem(parts, error);
    await emit('error', { problem: message.problem });
  }
  return { conversation, message, finish: message.finish };
}

/** Far more than a model is sent of it, and far less than a conversation may hold. The largest answer has room in it. */
const MAX_HISTORY_LENGTH = 3 * 1024 * 1024;

/** The newest messages, as far as an answer has a use for them: they are held for as long as it is written. */
export function recentMessages(
  messages: readonly ChatMessage[],
  maxLength: number = MAX_HISTORY_LENGTH,
): readonly ChatMessage[] {
  let size = 0;
  const first = messages.findLastIndex((message) => (size += JSON.stringify(message).length) > maxLength);
  return messages.slice(first + 1);
}

type AssistantMessage = Extract<ChatMessage, { role: 'assistant' }>;

/** The message as it is kept: the oldest results are given up first, then arguments, and what was said last, when it is too large as a whole. */
export function truncateMessage(
  message: AssistantMessage,
  maxBytes: number = MAX_STORED_MESSAGE_BYTES,
): AssistantMessage {
  let excess = sizeOf(message) - maxBytes;
  if (excess <= 0) return message;
  let parts = message.parts;
  for (const reduce of [withoutResult, withoutArguments, withoutText]) {
    parts = parts.map((part) => {
      if (excess <= 0) return part;
      const reduced = reduce(part, excess);
      excess -= sizeOf(part) - sizeOf(reduced);
      return reduced;
    });
  }
  return { ...message, parts };
}

function withoutResult(part: ChatPart): ChatPart {
  if (part.type !== 'call' || !part.call.result) return part;
  const { result: _, ...rest } = part.call;
  return { type: 'call', call: { ...rest, isCut: true } };
}

function withoutArguments(part: ChatPart): ChatPart {
  return part.type === 'call' ? { type: 'call', call: { ...part.call, arguments: {}, isCut: true } } : part;
}

/** A character takes a byte at least. Half a pair at the end is none, and takes more than the pair. */
function withoutText(part: ChatPart, excess: number): ChatPart {
  if (part.type !== 'text') return part;
  const text = part.text.slice(0, Math.max(0, part.text.length - excess)).replace(/[\uD800-\uDBFF]$/, '');
  return { type: 'text', text };
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
