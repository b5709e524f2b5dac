import { type ChatMessage, type ChatPart, ChatRequest, createConversationTitle } from '@behalf/contracts';
import type { Conversations } from '@behalf/gateway';
import type { Response } from 'express';
import { callerDisconnect, readBody } from '../../http/request.ts';
import { type Route, signedInRoute } from '../../http/route.ts';
import { createEventStream } from '../../http/sse.ts';
import type { AnswerRuns } from './answerRuns.ts';
import { MAX_STORED_MESSAGE_BYTES } from './limits.ts';
import type { Models } from './models.ts';
import { jsonBytes, reduceToSize, truncateText } from './results.ts';
import type { ChatEventWriter } from './runCall.ts';
import {
  type AnswerMessage,
  type ChatQuestion,
  type WriteAnswerParts,
  chatProblem,
  writeAnswer,
} from './writeAnswer.ts';

export interface ChatRouteParts extends WriteAnswerParts {
  readonly conversations: Conversations;
  readonly models: Models;
  readonly answerRuns: AnswerRuns;
  readonly headers: Readonly<Record<string, string>>;
}

/** `POST /api/chat`: stores the user's message and streams the answer as server-sent events. */
export function chatRoute(parts: ChatRouteParts): Route {
  const { callParts, answerRuns, models } = parts;
  return signedInRoute('post', '/api/chat', 'mcp', async (req, res, caller) => {
    callParts.requirePermission()(caller, 'USE');
    const chatRequest = readBody(req, ChatRequest);
    const run = answerRuns.start(caller, callerDisconnect(res));
    try {
      const model = await models.choose(caller, chatRequest);
      const question = await storeQuestion(parts, { req, caller, chatRequest, model, run });
      // From here on, errors are part of the conversation and are sent as events.
      await streamAnswer(parts, question, res);
    } finally {
      await run.end();
    }
  });
}

type ChatQuestionInput = Omit<ChatQuestion, 'conversation' | 'history' | 'messageId'>;

async function storeQuestion(parts: ChatRouteParts, input: ChatQuestionInput): Promise<ChatQuestion> {
  const { conversations, random, clock } = parts;
  const { caller, chatRequest } = input;
  const { id, history } = await openConversation(parts, input);
  const message: ChatMessage = { id: random.id(), role: 'user', text: chatRequest.text, at: clock.now() };
  const conversation = await conversations.saveMessage(caller, id, message);
  return { ...input, conversation, history, messageId: message.id };
}

async function openConversation(
  { conversations }: ChatRouteParts,
  { caller, chatRequest: { conversationId, text }, run }: ChatQuestionInput,
): Promise<{ id: string; history: readonly ChatMessage[] }> {
  if (conversationId === undefined) {
    const { id } = await conversations.create(caller, createConversationTitle(text));
    await run.lockConversation(id);
    return { id, history: [] };
  }
  // Lock before reading: another answer may be about to add a message.
  await run.lockConversation(conversationId);
  const { conversation, messages } = await conversations.open(caller, conversationId);
  return { id: conversation.id, history: recentMessages(messages) };
}

async function streamAnswer(parts: ChatRouteParts, question: ChatQuestion, res: Response): Promise<void> {
  const { clock, random, conversations, headers } = parts;
  const { caller, model, run } = question;
  let { conversation } = question;
  const events = createEventStream(res, {
    clock,
    headers: {
      ...headers,
      // `no-transform`: a proxy must not buffer the stream to compress it.
      'Cache-Control': 'no-store, no-transform',
      'Content-Location': `/api/chat/${conversation.id}`,
    },
  });
  const emit: ChatEventWriter = Object.assign((event: string, data: unknown) => events.send(event, data), {
    writeIfReady: (event: string, data: unknown) => events.sendIfReady(event, data),
  });
  const message: AnswerMessage = {
    ...{ id: random.id(), role: 'assistant', parts: [], model: model.model, at: clock.now() },
  };
  const save = async () => {
    // Parts that do not fit into the store are released from memory as well.
    message.parts = truncateMessage(message).parts;
    conversation = await conversations.saveMessage(caller, conversation.id, message);
  };
  try {
    events.open();
    await writeAnswer(parts, question, { message, emit, save });
    try {
      await save();
    } catch (error) {
      // The client has the answer. Report that it is missing from the stored conversation.
      message.finish = 'error';
      message.problem = chatProblem(parts, error);
      await emit('error', { problem: message.problem });
    }
    // Release the conversation before the client reads `done`: its next message may arrive at once.
    await run.end();
    events.end('done', JSON.stringify({ conversation, message, finish: message.finish }));
  } finally {
    events.close();
  }
}

/** Far more than a model receives and far less than a conversation may hold. The largest answer fits. */
const MAX_HISTORY_LENGTH = 3 * 1024 * 1024;

/** The newest messages up to a total size. They stay in memory while the answer is generated. */
export function recentMessages(
  messages: readonly ChatMessage[],
  maxLength: number = MAX_HISTORY_LENGTH,
): readonly ChatMessage[] {
  let size = 0;
  const first = messages.findLastIndex((message) => (size += JSON.stringify(message).length) > maxLength);
  return messages.slice(first + 1);
}

/** Shortens a message to the stored size: removes the oldest results first, then arguments, then text. */
export function truncateMessage(
  message: AnswerMessage,
  maxBytes: number = MAX_STORED_MESSAGE_BYTES,
): AnswerMessage {
  const excess = jsonBytes(message) - maxBytes;
  if (excess <= 0) return message;
  const reducers = [withoutResult, withoutArguments, withoutText];
  return { ...message, parts: reduceToSize(message.parts, excess, jsonBytes, reducers) };
}

function withoutResult(part: ChatPart): ChatPart {
  if (part.type !== 'call' || !part.call.result) return part;
  const { result: _, ...rest } = part.call;
  return { type: 'call', call: { ...rest, isCut: true } };
}

function withoutArguments(part: ChatPart): ChatPart {
  return part.type === 'call' ? { type: 'call', call: { ...part.call, arguments: {}, isCut: true } } : part;
}

/** Each removed character reduces the size by at least one byte. */
function withoutText(part: ChatPart, excess: number): ChatPart {
  if (part.type !== 'text') return part;
  return { type: 'text', text: truncateText(part.text, part.text.length - excess) };
}
