import type { ChatCall, ChatMessage, ChatPart } from '@behalf/contracts';
import {
  createMessage,
  createPart,
  statusOf,
  textState,
  type AnswerState,
  type AnswerStatus,
  type MessageState,
  type PartState,
} from './messages.ts';

/**
 * What the gateway keeps, put into what is on the screen: whatever is the same stays the same object, and is not
 * rendered again. Messages are only ever added at the end, so they are compared by their place.
 */
export function reconcileMessages(
  shown: readonly MessageState[],
  kept: readonly ChatMessage[],
  isRunning: boolean,
): readonly MessageState[] {
  const next = kept.map((message, index) => {
    const isLive = isRunning && index === kept.length - 1;
    const known = shown[index];
    if (message.role === 'assistant') {
      if (known?.role !== 'assistant') return createMessage(message, isLive);
      reconcileAnswer(known, message, isLive);
      return known;
    }
    return known?.role === 'user' && known.text === message.text ? known : createMessage(message, false);
  });
  return isSame(shown, next) ? shown : next;
}

export function reconcileAnswer(
  answer: AnswerState,
  message: Extract<ChatMessage, { role: 'assistant' }>,
  isRunning: boolean,
): void {
  const shown = answer.parts.get();
  // Of an answer that is not over the gateway may have kept less than what has already arrived here.
  if (message.finish !== undefined || sizeOf(message.parts) >= shownSize(shown)) {
    const next = message.parts.map((part, index) => reconcilePart(shown[index], part));
    if (!isSame(shown, next)) answer.parts.set(next);
  }
  const status = statusOf(message, isRunning);
  if (!isAlike(answer.status.get(), status)) answer.status.set(status);
}

function sizeOf(parts: readonly ChatPart[]): number {
  return parts.reduce((size, part) => size + (part.type === 'text' ? part.text.length : 1), 0);
}

function shownSize(parts: readonly PartState[]): number {
  return parts.reduce((size, part) => size + (part.type === 'text' ? part.state.get().text.length : 1), 0);
}

function reconcilePart(known: PartState | undefined, part: ChatPart): PartState {
  if (part.type === 'text' && known?.type === 'text') {
    if (known.state.get().text !== part.text) known.state.set(textState(part.text));
    return known;
  }
  if (part.type === 'call' && known?.type === 'call') {
    const { call } = known.state.get();
    if (call.callId === part.call.callId) {
      if (!isSameCall(call, part.call)) known.state.set({ call: part.call });
      return known;
    }
  }
  return createPart(part);
}

function isSame<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((entry, index) => entry === other[index]);
}

/**
 * A call changes by coming to its end; its result, which may be large, does not change any more then. Less of it may be
 * kept than is on the screen, which stays.
 */
function isSameCall(shown: ChatCall, kept: ChatCall): boolean {
  return shown.state === kept.state && (shown.result !== undefined || kept.result === undefined);
}

function isAlike(one: AnswerStatus, other: AnswerStatus): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
