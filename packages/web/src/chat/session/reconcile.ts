import type { ChatCall, ChatMessage, ChatPart } from '@behalf/contracts';
import {
  createMessage,
  createPart,
  toAnswerStatus,
  createTextState,
  type AnswerState,
  type AnswerStatus,
  type MessageState,
  type PartState,
} from './messages.ts';

/**
 * Merges the stored messages into the shown ones. Unchanged objects keep their identity and do not
 * render again. Messages are only appended, so they are compared by index.
 */
export function reconcileMessages(
  shown: readonly MessageState[],
  stored: readonly ChatMessage[],
  isRunning: boolean,
): readonly MessageState[] {
  const next = stored.map((message, index) => {
    const isLive = isRunning && index === stored.length - 1;
    const existing = shown[index];
    if (message.role === 'assistant') {
      if (existing?.role !== 'assistant') return createMessage(message, isLive);
      reconcileAnswer(existing, message, isLive);
      return existing;
    }
    return existing?.role === 'user' && existing.text === message.text
      ? existing
      : createMessage(message, false);
  });
  return hasSameEntries(shown, next) ? shown : next;
}

export function reconcileAnswer(
  answer: AnswerState,
  message: Extract<ChatMessage, { role: 'assistant' }>,
  isRunning: boolean,
): void {
  const shown = answer.parts.get();
  // The stored copy of a running answer can be older than the shown text.
  if (message.finish !== undefined || storedSize(message.parts) >= shownSize(shown)) {
    const next = message.parts.map((part, index) => reconcilePart(shown[index], part));
    if (!hasSameEntries(shown, next)) answer.parts.set(next);
  }
  const status = toAnswerStatus(message, isRunning);
  if (!isSameStatus(answer.status.get(), status)) answer.status.set(status);
}

function storedSize(parts: readonly ChatPart[]): number {
  return parts.reduce((size, part) => size + (part.type === 'text' ? part.text.length : 1), 0);
}

function shownSize(parts: readonly PartState[]): number {
  return parts.reduce((size, part) => size + (part.type === 'text' ? part.state.get().text.length : 1), 0);
}

function reconcilePart(existing: PartState | undefined, part: ChatPart): PartState {
  if (part.type === 'text' && existing?.type === 'text') {
    if (existing.state.get().text !== part.text) existing.state.set(createTextState(part.text));
    return existing;
  }
  if (part.type === 'call' && existing?.type === 'call') {
    const { call } = existing.state.get();
    if (call.callId === part.call.callId) {
      if (!isSameCall(call, part.call)) existing.state.set({ call: part.call });
      return existing;
    }
  }
  return createPart(part);
}

function hasSameEntries<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((entry, index) => entry === other[index]);
}

/**
 * Compares two copies of a call. The result of a finished call is large and never changes. If the
 * gateway stores less than the page shows, the shown result stays.
 */
function isSameCall(shown: ChatCall, stored: ChatCall): boolean {
  return shown.state === stored.state && (shown.result !== undefined || stored.result === undefined);
}

function isSameStatus(one: AnswerStatus, other: AnswerStatus): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
