import {
  ChatRequest,
  conversationTitle,
  type ChatMessage,
  type ConversationSummary,
} from '@behalf/contracts';
import type { Conversations, UserPrincipal } from '@behalf/gateway';
import type { Request, Response } from 'express';
import { createEventStream } from '../door/eventStream.ts';
import type { Route } from '../http.ts';
import { readBody } from '../middleware/body.ts';
import { callerLeaving } from '../middleware/whenCallerLeaves.ts';
import { chatProblem } from './answer/chatProblem.ts';
import { keptMessage } from './answer/keptMessage.ts';
import { recent } from './answer/recent.ts';
import { writeAnswer, type AnswerMessage, type WriteParts } from './answer/writeAnswer.ts';
import { writingOf, type WritingParts } from './answer/writingOf.ts';
import type { Answers } from './answers.ts';
import type { ChosenModel, Models } from './model/models.ts';
import type { Running } from './running.ts';
import { createTell, type Tell } from './tell.ts';

export interface AskRouteParts extends WriteParts, WritingParts {
  readonly asking: WritingParts['asking'];
  readonly conversations: Conversations;
  readonly models: Models;
  readonly answers: Answers;
  readonly headers: Readonly<Record<string, string>>;
}

/** Somebody says something, and hears the answer as it is written. */
export function askRoute(parts: AskRouteParts): Route {
  const { asking, answers, models } = parts;
  return {
    method: 'post',
    path: '/api/chat',
    access: 'signed-in',
    scope: 'mcp',
    async handle(req, res, caller) {
      asking.requirePermission()(caller, 'USE');
      const asked = readBody(req, ChatRequest);
      const running = answers.enter(caller, callerLeaving(res));
      try {
        const model = await models.choose(caller, asked);
        const begun = await begin(parts, { req, caller, asked, model, running });
        // From here on what goes wrong is part of the conversation, and told as an event.
        await stream(parts, begun, res);
      } finally {
        await running.end();
      }
    },
  };
}

interface Asked {
  readonly req: Request;
  readonly caller: UserPrincipal;
  readonly asked: ChatRequest;
  readonly model: ChosenModel;
  readonly running: Running;
}

/** A question that is kept. */
interface Begun extends Asked {
  readonly conversation: ConversationSummary;
  readonly history: readonly ChatMessage[];
  readonly id: string;
}

async function begin(parts: AskRouteParts, given: Asked): Promise<Begun> {
  const { conversations, random, clock } = parts;
  const { caller, asked } = given;
  const { conversation, history } = await openConversation(parts, given);
  const question: ChatMessage = { id: random.id(), role: 'user', text: asked.text, at: clock.now() };
  const summary = await conversations.saveMessage(caller, conversation.id, question);
  return { ...given, conversation: summary, history, id: question.id };
}

async function openConversation(
  { conversations }: AskRouteParts,
  { caller, asked, running }: Asked,
): Promise<{ conversation: ConversationSummary; history: readonly ChatMessage[] }> {
  const { conversationId, text } = asked;
  if (conversationId === undefined) {
    const conversation = await conversations.create(caller, conversationTitle(text));
    await running.take(conversation.id);
    return { conversation, history: [] };
  }
  // Before it is read: what another answer is about to add is part of what was said before.
  await running.take(conversationId);
  const { conversation, messages } = await conversations.open(caller, conversationId);
  return { conversation, history: recent(messages) };
}

async function stream(parts: AskRouteParts, begun: Begun, res: Response): Promise<void> {
  const { clock, headers } = parts;
  const events = createEventStream(res, {
    clock,
    // What is told piece by piece must not be collected on its way.
    headers: {
      ...headers,
      'Cache-Control': 'no-store, no-transform',
      'Content-Location': `/api/chat/${begun.conversation.id}`,
    },
  });
  try {
    events.open();
    const done = await answer(parts, begun, createTell(events));
    // Before its reader knows that it is over: the next question may come at once.
    await begun.running.end();
    events.end('done', JSON.stringify(done));
  } finally {
    events.close();
  }
}

async function answer(parts: AskRouteParts, begun: Begun, tell: Tell) {
  const { conversations, clock, random } = parts;
  const { caller, model } = begun;
  let { conversation } = begun;
  const message: AnswerMessage = {
    ...{ id: random.id(), role: 'assistant', parts: [], model: model.model, at: clock.now() },
  };
  const save = async () => {
    // What is not kept is not held for the rest of the answer either.
    message.parts = keptMessage(message).parts;
    conversation = await conversations.saveMessage(caller, conversation.id, message);
  };
  const question = { ...begun, conversationId: conversation.id };
  await writeAnswer(parts, writingOf(parts, question, { message, tell, save }));
  try {
    await save();
  } catch (error) {
    // What was said is told, and that it will not be there the next time.
    message.finish = 'error';
    message.problem = chatProblem(parts, error);
    await tell('error', { problem: message.problem });
  }
  return { conversation, message, finish: message.finish };
}
