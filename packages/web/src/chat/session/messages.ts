import type { ChatCall, ChatMessage, ChatPart, ChatProblem, FinishReason } from '@behalf/contracts';
import { createStore, type Store } from '../../app/store.ts';
import { appendText, emptyBlocks, type MarkdownBlocks } from '../markdown/splitBlocks.ts';

interface CallProgress {
  readonly progress?: number | undefined;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface CallState {
  readonly call: ChatCall;
  readonly progress?: CallProgress;
  /** Deadline of the approval or the sign-in, in Unix milliseconds. */
  readonly expiresAt?: number;
}

interface TextState {
  readonly text: string;
  readonly blocks: MarkdownBlocks;
}

/** Each part has its own store, so that a chunk of text renders only the component of that text. */
export type PartState =
  | { readonly id: string; readonly type: 'text'; readonly state: Store<TextState> }
  | { readonly id: string; readonly type: 'call'; readonly state: Store<CallState> };

export type TextPartState = Extract<PartState, { type: 'text' }>;
export type CallPartState = Extract<PartState, { type: 'call' }>;

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

export interface UserMessageState {
  readonly id: string;
  readonly role: 'user';
  readonly text: string;
  readonly at: number;
}

export type MessageState = AnswerState | UserMessageState;

let lastId = 0;
/** Returns an ID for this page. The ID that the gateway assigns later does not replace it. */
export function nextMessageId(): string {
  return `m${String((lastId += 1))}`;
}

export function createTextState(text: string): TextState {
  return { text, blocks: appendText(emptyBlocks, text) };
}

export function appendToText({ text, blocks }: TextState, chunk: string): TextState {
  return { text: text + chunk, blocks: appendText(blocks, chunk) };
}

export function createPart(part: ChatPart): PartState {
  const id = nextMessageId();
  return part.type === 'text'
    ? { id, type: 'text', state: createStore(createTextState(part.text)) }
    : { id, type: 'call', state: createStore<CallState>({ call: part.call }) };
}

export function createAnswer(status: AnswerStatus, parts: readonly ChatPart[] = []): AnswerState {
  return {
    id: nextMessageId(),
    role: 'assistant',
    parts: createStore<readonly PartState[]>(parts.map(createPart)),
    status: createStore(status),
  };
}

export function createUserMessage(text: string, at: number): UserMessageState {
  return { id: nextMessageId(), role: 'user', text, at };
}

export function createMessage(message: ChatMessage, isRunning: boolean): MessageState {
  if (message.role === 'user') return createUserMessage(message.text, message.at);
  return createAnswer(toAnswerStatus(message, isRunning), message.parts);
}

export function toAnswerStatus(
  { model, at, finish, problem }: Extract<ChatMessage, { role: 'assistant' }>,
  isRunning: boolean,
): AnswerStatus {
  return { isRunning: isRunning && finish === undefined, model, at, finish, problem };
}

/** Returns the text of an answer as Markdown. */
export function answerText(answer: AnswerState): string {
  return answer.parts
    .get()
    .flatMap((part) => (part.type === 'text' ? [part.state.get().text.trim()] : []))
    .filter(Boolean)
    .join('\n\n');
}
