/**
 * Conversation of this page: sends messages, applies the event stream and merges the stored state.
 *
 * - While this page receives an answer, stored views are ignored: the stream is newer.
 * - A stored view that is older than the applied one is ignored.
 * - A rejected message is removed from the list and offered for sending again.
 * - If the connection breaks, the received text stays until the gateway has stored more.
 */

import type { ChatMessage, ChatRequest, ConversationSummary, ConversationView } from '@behalf/contracts';
import { createConversationTitle } from '@behalf/contracts/plain';
import type { ChatStream } from '../../api/chat.ts';
import { type Store, createStore } from '../../app/store.ts';
import { applyEvent, callsAwaitingSignIn, toAnnouncement } from './applyEvent.ts';
import type { Drafts } from './drafts.ts';
import {
  type AnswerState,
  type MessageState,
  createAnswer,
  createUserMessage,
  nextMessageId,
} from './messages.ts';
import { reconcileMessages } from './reconcile.ts';

/** `local`: this page receives the answer. `remote`: another window does, or the connection was lost. */
type AnsweringState = 'no' | 'local' | 'remote';

export interface SessionState {
  readonly answering: AnsweringState;
  /** Whether a stop was requested for the running answer. */
  readonly isStopping?: boolean;
  readonly failure?: ChatFailure;
}

/** Model, endpoint and servers of a message. */
export type AnswerOptions = Pick<ChatRequest, 'endpoint' | 'model' | 'servers'>;

/** Conversation of this page, outside of React: an answer continues while the user visits another page. */
export interface Session {
  /** ID on this page, which exists before the gateway assigns an ID. */
  readonly key: string;
  readonly id: Store<string | undefined>;
  readonly title: Store<string>;
  readonly messages: Store<readonly MessageState[]>;
  readonly state: Store<SessionState>;
  /** Last screen reader announcement. */
  readonly announcement: Store<string>;
  /** Unsent text. */
  readonly draft: Store<string>;
  /** Sends a message and resolves when the answer ends. If it fails, rejects and sets `state`. */
  send(text: string, loadOptions: () => AnswerOptions | Promise<AnswerOptions>): Promise<void>;
  stop(): Promise<void>;
  /** Applies the stored conversation. */
  applyView(view: ConversationView): void;
  /** Removes the failed message. */
  dismissFailure(): void;
  /** Resumes calls that wait for a sign-in at this server. */
  resumeAfterConnect(server: string): void;
}

export interface SessionParts {
  readonly startAnswer: (body: ChatRequest, signal: AbortSignal) => Promise<ChatStream>;
  readonly stopAnswer: (id: string) => Promise<unknown>;
  /** Resumes a call after the sign-in. Never rejects. */
  readonly resumeCall: (id: string, callId: string) => Promise<void>;
  readonly drafts: Drafts;
  readonly schedule: Schedule;
  readonly now: () => number;
  readonly onStarted: (session: Session, summary: ConversationSummary) => void;
  readonly onSummary: (summary: ConversationSummary) => void;
  /** Called after an aborted send. The gateway may have stored the message, also in a new conversation. */
  readonly onWithdrawn: (id: string | undefined) => void;
}

export function createSession(parts: SessionParts, view?: ConversationView): Session {
  const id = createStore<string | undefined>(view?.id);
  const title = createStore(view?.title ?? '');
  const messages = createStore<readonly MessageState[]>([]);
  const state = createStore<SessionState>({ answering: 'no' });
  const announcement = createStore('');
  const draft = createStore('');
  const saveDraft = () => parts.drafts.write(id.get(), draft.get());
  draft.subscribe(saveDraft);
  parts.drafts.whenOwnerKnown(() => {
    if (draft.get() === '') draft.set(parts.drafts.read(id.get()));
    else saveDraft();
  });
  /** Time of the applied view. Older copies, from another replica or an overtaken request, are ignored. */
  let updatedAt = 0;
  /** Set until the gateway answers the request. */
  let pendingRequest: AbortController | undefined;

  function applyView(next: ConversationView): void {
    if (state.get().answering === 'local' || next.updatedAt < updatedAt) return;
    updatedAt = next.updatedAt;
    title.set(next.title);
    const shown = messages.get();
    const { failure } = state.get();
    const isBroken = failure?.kind === 'broken' && next.messages.length < shown.length;
    const wasAccepted =
      failure?.kind === 'withdrawn' && containsMessage(next.messages.slice(shown.length), failure.text);
    const reconciled = reconcileMessages(shown, next.messages, next.isRunning);
    // Keeps the received part of an interrupted answer until the gateway has stored more.
    messages.set(isBroken ? [...reconciled, ...shown.slice(reconciled.length)] : reconciled);
    state.set({
      answering: next.isRunning ? 'remote' : 'no',
      ...(failure && (failure.kind !== 'broken' || isBroken) && !wasAccepted && { failure }),
    });
  }

  async function send(
    text: string,
    loadOptions: () => AnswerOptions | Promise<AnswerOptions>,
  ): Promise<void> {
    if (state.get().answering !== 'no') return;
    const previousMessages = messages.get();
    const at = parts.now();
    const answer = createAnswer({ isRunning: true, model: '', at });
    messages.set([...previousMessages, createUserMessage(text, at), answer]);
    state.set({ answering: 'local' });
    const controller = (pendingRequest = new AbortController());
    const conversationId = id.get();
    let stream: ChatStream;
    try {
      const body = {
        text,
        ...(await loadOptions()),
        ...(conversationId !== undefined && { conversationId }),
      };
      controller.signal.throwIfAborted();
      stream = await parts.startAnswer(body, controller.signal);
    } catch (error) {
      messages.set(previousMessages);
      const wasAborted = controller.signal.aborted;
      state.set({
        answering: 'no',
        failure: wasAborted ? { kind: 'withdrawn', text } : { kind: 'refused', text, error },
      });
      if (wasAborted) {
        parts.onWithdrawn(conversationId);
        return;
      }
      throw error;
    } finally {
      pendingRequest = undefined;
    }
    if (conversationId === undefined) handleStarted(stream.conversationId, text, at);
    await readStream(stream, answer);
  }

  function handleStarted(newId: string, text: string, at: number): void {
    // Text that the user typed in the meantime becomes the draft of this conversation, not of the
    // next new one.
    parts.drafts.write(undefined, '');
    id.set(newId);
    saveDraft();
    title.set(createConversationTitle(text));
    parts.onStarted(session, { id: newId, title: title.get(), createdAt: at, updatedAt: at });
  }

  async function readStream(stream: ChatStream, answer: AnswerState): Promise<void> {
    const size = () => {
      const part = answer.parts.get().at(-1);
      if (part?.type !== 'text') return 0;
      const { pending: open, isCode } = part.state.get().blocks;
      // Code is not parsed again.
      return isCode ? 0 : open.length;
    };
    const batch = createTextBatch({ schedule: parts.schedule, size }, (text) =>
      applyEvent(answer, { event: 'text', data: { text } }),
    );
    try {
      for await (const event of stream.events) {
        if (event.event === 'text') {
          batch.add(event.data.text);
          continue;
        }
        batch.flush();
        applyEvent(answer, event);
        announcement.set(toAnnouncement(answer, event) ?? announcement.get());
        if (event.event !== 'done') continue;
        handleDone(event.data.conversation);
        return;
      }
    } catch (error) {
      batch.flush();
      answer.status.set({ ...answer.status.get(), isRunning: false });
      state.set({ answering: 'no', failure: { kind: 'broken' } });
      throw error;
    }
  }

  function handleDone(summary: ConversationSummary): void {
    updatedAt = summary.updatedAt;
    title.set(summary.title);
    state.set({ answering: 'no' });
    parts.onSummary(summary);
  }

  const session: Session = {
    key: nextMessageId(),
    ...{ id, title, messages, state, announcement, draft, send, applyView },
    async stop() {
      const known = id.get();
      const previousState = state.get();
      state.set({ ...previousState, isStopping: true });
      if (pendingRequest) pendingRequest.abort();
      else if (known !== undefined) {
        try {
          await parts.stopAnswer(known);
        } catch (error) {
          if (state.get().answering !== 'no') state.set(previousState);
          throw error;
        }
      }
    },
    dismissFailure: () => state.set({ answering: state.get().answering }),
    resumeAfterConnect(server) {
      const known = id.get();
      const answer = messages.get().at(-1);
      if (known === undefined || state.get().answering !== 'local' || answer?.role !== 'assistant') return;
      for (const callId of callsAwaitingSignIn(answer, server)) void parts.resumeCall(known, callId);
    },
  };
  if (view) applyView(view);
  return session;
}

function containsMessage(messages: readonly ChatMessage[], text: string): boolean {
  return messages.some((message) => message.role === 'user' && message.text === text);
}

/** Reason why a message has no complete answer. */
export type ChatFailure =
  /** The gateway rejected the message. The page offers to send it again. */
  | { readonly kind: 'refused'; readonly text: string; readonly error: unknown }
  /** The user stopped before the gateway answered. It may have accepted the message. */
  | { readonly kind: 'withdrawn'; readonly text: string }
  /** The connection was lost during the answer. */
  | { readonly kind: 'broken' };

/** Schedules the callback and returns a function that cancels it. */
type Schedule = (callback: () => void, size: number) => () => void;

interface TextBatch {
  add(chunk: string): void;
  /** Called before other events to keep the order. */
  flush(): void;
}

/** Collects chunks of text until the next frame, because they arrive faster than the screen refreshes. */
function createTextBatch(
  parts: { readonly schedule: Schedule; readonly size: () => number },
  show: (text: string) => void,
): TextBatch {
  let pending = '';
  let cancelScheduled: (() => void) | undefined;

  function flush(): void {
    cancelScheduled?.();
    cancelScheduled = undefined;
    const text = pending;
    pending = '';
    if (text !== '') show(text);
  }

  return {
    add(chunk) {
      pending += chunk;
      cancelScheduled ??= parts.schedule(flush, parts.size());
    },
    flush,
  };
}

/** Longer pending blocks are parsed less often, because parsing takes longer than one frame. */
const SMALL_TEXT_LENGTH = 1_500;
const MAX_WAIT_MS = 400;

export const schedule: Schedule = (callback, size) => {
  if (size > SMALL_TEXT_LENGTH) {
    const timer = setTimeout(callback, Math.min(MAX_WAIT_MS, size / 20));
    return () => clearTimeout(timer);
  }
  const frame = requestAnimationFrame(callback);
  return () => cancelAnimationFrame(frame);
};
