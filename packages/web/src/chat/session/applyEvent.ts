import type { ChatCall, ChatEvent } from '@behalf/contracts';
import { createPart, withText, type AnswerState, type CallPartState, type CallState } from './messages.ts';
import { reconcileAnswer } from './reconcile.ts';

/** What an event changes in the answer that is being written: one store, wherever possible. */
export function applyEvent(answer: AnswerState, event: ChatEvent): void {
  switch (event.event) {
    case 'text':
      addText(answer, event.data.text);
      return;
    case 'tool_call':
    case 'result':
      putCall(answer, event.data.call);
      return;
    case 'progress': {
      const { callId, ...progress } = event.data;
      changeCall(answer, callId, (state) => ({ ...state, progress }));
      return;
    }
    case 'approval': {
      const { callId, expiresAt } = event.data;
      changeCall(answer, callId, ({ call }) => ({ call: { ...call, state: 'waiting' }, expiresAt }));
      return;
    }
    case 'connect': {
      const { callId, connect, expiresAt } = event.data;
      changeCall(answer, callId, ({ call }) =>
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

function addText(answer: AnswerState, piece: string): void {
  if (piece === '') return;
  const parts = answer.parts.get();
  const part = parts.at(-1);
  if (part?.type === 'text') part.state.set(withText(part.state.get(), piece));
  else answer.parts.set([...parts, createPart({ type: 'text', text: piece })]);
}

/** A call that is new, or the whole of one that is known. */
function putCall(answer: AnswerState, call: ChatCall): void {
  const known = findCall(answer, call.callId);
  if (known) known.state.set({ call });
  else answer.parts.set([...answer.parts.get(), createPart({ type: 'call', call })]);
}

function changeCall(answer: AnswerState, callId: string, change: (state: CallState) => CallState): void {
  const state = findCall(answer, callId)?.state;
  state?.set(change(state.get()));
}

/** The calls of an answer that wait for a sign-in at this server. */
export function heldCalls(answer: AnswerState, server: string): string[] {
  return answer.parts.get().flatMap((part) => {
    if (part.type !== 'call') return [];
    const { callId, state, connect } = part.state.get().call;
    return state === 'waiting' && connect?.server === server ? [callId] : [];
  });
}

export function findCall(answer: AnswerState, callId: string): CallPartState | undefined {
  return answer.parts
    .get()
    .find((part): part is CallPartState => part.type === 'call' && part.state.get().call.callId === callId);
}
