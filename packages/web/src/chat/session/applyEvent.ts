import type { ChatCall, ChatEvent } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import {
  type AnswerState,
  type CallPartState,
  type CallState,
  answerText,
  appendToText,
  createPart,
} from './messages.ts';
import { reconcileAnswer } from './reconcile.ts';

/** Applies an event to the running answer. Updates as few stores as possible. */
export function applyEvent(answer: AnswerState, event: ChatEvent): void {
  switch (event.event) {
    case 'text':
      appendText(answer, event.data.text);
      return;
    case 'tool_call':
    case 'result':
      upsertCall(answer, event.data.call);
      return;
    case 'progress': {
      const { callId, ...progress } = event.data;
      updateCall(answer, callId, (state) => ({ ...state, progress }));
      return;
    }
    case 'approval': {
      const { callId, expiresAt } = event.data;
      updateCall(answer, callId, ({ call }) => ({ call: { ...call, state: 'waiting' }, expiresAt }));
      return;
    }
    case 'connect': {
      const { callId, connect, expiresAt } = event.data;
      updateCall(answer, callId, ({ call }) =>
        expiresAt === undefined
          ? { call: { ...call, connect } }
          : { call: { ...call, connect, state: 'waiting' }, expiresAt },
      );
      return;
    }
    case 'error':
      answer.status.set({ ...answer.status.get(), problem: event.data.problem });
      return;
    case 'done':
      if (event.data.message.role === 'assistant') reconcileAnswer(answer, event.data.message, false);
  }
}

function appendText(answer: AnswerState, chunk: string): void {
  if (chunk === '') return;
  const parts = answer.parts.get();
  const part = parts.at(-1);
  if (part?.type === 'text') part.state.set(appendToText(part.state.get(), chunk));
  else answer.parts.set([...parts, createPart({ type: 'text', text: chunk })]);
}

/** Adds a call or replaces its state. */
function upsertCall(answer: AnswerState, call: ChatCall): void {
  const existing = findCall(answer, call.callId);
  if (existing) existing.state.set({ call });
  else answer.parts.set([...answer.parts.get(), createPart({ type: 'call', call })]);
}

function updateCall(answer: AnswerState, callId: string, change: (state: CallState) => CallState): void {
  const state = findCall(answer, callId)?.state;
  state?.set(change(state.get()));
}

/** Returns the calls of an answer that wait for a sign-in at this server. */
export function callsAwaitingSignIn(answer: AnswerState, server: string): string[] {
  return answer.parts.get().flatMap((part) => {
    if (part.type !== 'call') return [];
    const { callId, state, connect } = part.state.get().call;
    return state === 'waiting' && connect?.server === server ? [callId] : [];
  });
}

function findCall(answer: AnswerState, callId: string): CallPartState | undefined {
  return answer.parts
    .get()
    .find((part): part is CallPartState => part.type === 'call' && part.state.get().call.callId === callId);
}

/** Applies a decision to a waiting call. An outcome that the stream already reported stays. */
export function applyDecision(state: CallState, approve: boolean): CallState {
  const { call } = state;
  if (call.state !== 'waiting') return state;
  return { call: { ...call, state: approve ? 'running' : 'denied' } };
}

const MAX_ANNOUNCED_LENGTH = 300;

/** Returns the screen reader announcement of an applied event, or undefined if there is none. */
export function toAnnouncement(answer: AnswerState, event: ChatEvent): string | undefined {
  const words = strings.chat.announce;
  if (event.event === 'approval') {
    const call = findCall(answer, event.data.callId)?.state.get().call;
    return call && words.approval(call.serverTitle, call.toolTitle || call.tool);
  }
  if (event.event === 'connect') return words.connect(event.data.connect.title);
  if (event.event !== 'done') return undefined;
  if (event.data.finish === 'error') return words.failed;
  if (event.data.finish === 'stopped') return words.stopped;
  return words.finished(truncateAnnouncement(stripMarkdown(answerText(answer))));
}

/** Removes Markdown markers, which disturb when read aloud. */
function stripMarkdown(text: string): string {
  return text
    .replaceAll(/[*_`#>|~]+/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function truncateAnnouncement(text: string): string {
  return text.length > MAX_ANNOUNCED_LENGTH ? `${text.slice(0, MAX_ANNOUNCED_LENGTH)}…` : text;
}
