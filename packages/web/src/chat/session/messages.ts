import type { ChatCall, ChatMessage, ChatPart, ChatProblem, FinishReason } from '@behalf/contracts';
import { createStore, type Store } from '../../app/store.ts';
import { appendText, noBlocks, type Blocks } from '../markdown/splitBlocks.ts';

/** What is said while a tool runs. */
export interface CallProgress {
  readonly progress?: number | undefined;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface CallState {
  readonly call: ChatCall;
  readonly progress?: CallProgress;
  /** Until when it waits for its user. */
  readonly expiresAt?: number;
}

export interface TextState {
  readonly text: string;
  readonly blocks: Blocks;
}

/**
 * Each part has a store of its own: a piece of text that arrives is seen by the component of that text and by no
 * other.
 */
export type PartState =
  | { readonly id: string; readonly type: 'text'; readonly state: Store<TextState> }
  | { readonly id: string; readonly type: 'call'; readonly state: Store<CallState> };

export type TextPartState = Extract<PartState, { type: 'text' }>;
export type CallPartState = Extract<PartState, { type: 'call' }>;

/** How an answer stands. */
export interface AnswerStatus {
  readonly isRunning: boolean;
  readonly model: string;
  readonly at: number;
  readonly finish?: FinishReason | undefined;
  readonly problem?: ChatProblem | undefined;
}

export interface AnswerState {
  readonly id: string;
  readonly role: 'assistant';
  readonly parts: Store<readonly PartState[]>;
  readonly status: Store<AnswerStatus>;
}

export interface QuestionState {
  readonly id: string;
  readonly role: 'user';
  readonly text: string;
  readonly at: number;
}

export type MessageState = AnswerState | QuestionState;

let last = 0;
/** Names on this page alone. The gateway tells its own when an answer is over; what is on the screen keeps its name. */
export function nextId(): string {
  return `m${String((last += 1))}`;
}

export function textState(text: string): TextState {
  return { text, blocks: appendText(noBlocks, text) };
}

export function withText({ text, blocks }: TextState, piece: string): TextState {
  return { text: text + piece, blocks: appendText(blocks, piece) };
}

export function createPart(part: ChatPart): PartState {
  const id = nextId();
  return part.type === 'text'
    ? { id, type: 'text', state: createStore(textState(part.text)) }
    : { id, type: 'call', state: createStore<CallState>({ call: part.call }) };
}

export function createAnswer(status: AnswerStatus, parts: readonly ChatPart[] = []): AnswerState {
  return {
    id: nextId(),
    role: 'assistant',
    parts: createStore<readonly PartState[]>(parts.map(createPart)),
    status: createStore(status),
  };
}

export function createQuestion(text: string, at: number): QuestionState {
  return { id: nextId(), role: 'user', text, at };
}

export function createMessage(message: ChatMessage, isRunning: boolean): MessageState {
  if (message.role === 'user') return createQuestion(message.text, message.at);
  return createAnswer(statusOf(message, isRunning), message.parts);
}

export function statusOf(
  { model, at, finish, problem }: Extract<ChatMessage, { role: 'assistant' }>,
  isRunning: boolean,
): AnswerStatus {
  return { isRunning: isRunning && finish === undefined, model, at, finish, problem };
}

/** The words of an answer, as the model wrote them. */
export function answerText(answer: AnswerState): string {
  return answer.parts
    .get()
    .flatMap((part) => (part.type === 'text' ? [part.state.get().text.trim()] : []))
    .filter(Boolean)
    .join('\n\n');
}
