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
  /** Asked to, and not over yet. */
  readonly isStopping?: boolean;
  readonly failure?: ChatFailure;
}

/** With which model, and which servers' tools. */
export type AnswerOptions = Pick<ChatRequest, 'endpoint' | 'model' | 'servers'>;

/** One conversation on this page, outside of React: it goes on while another page is looked at. */
export interface Session {
  /** Its name on this page; it has one before the gateway gave it an id. */
  readonly key: string;
  readonly id: Store<string | undefined>;
  readonly title: Store<string>;
  readonly messages: Store<readonly MessageState[]>;
  readonly state: Store<SessionState>;
  /** The last thing to be read out. */
  readonly announcement: Store<string>;
  /** What is being written and was not sent yet. */
  readonly draft: Store<string>;
  /** Until the answer is over. Rejects with what went wrong, which also stands in `state`. */
  send(text: string, loadOptions: () => AnswerOptions | Promise<AnswerOptions>): Promise<void>;
  stop(): Promise<void>;
  /** What the gateway keeps of this conversation. */
  applyView(view: ConversationView): void;
  /** Takes back what could not be sent. */
  dismissFailure(): void;
  /** Its user has signed in at this server: what waits for that goes on. */
  resumeAfterConnect(server: string): void;
}

export interface SessionParts {
  readonly startAnswer: (body: ChatRequest, signal: AbortSignal) => Promise<ChatStream>;
  readonly stopAnswer: (id: string) => Promise<unknown>;
  /** A call that waited for a sign-in shall be made. Never rejects. */
  readonly resumeCall: (id: string, callId: string) => Promise<void>;
  readonly drafts: Drafts;
  readonly schedule: Schedule;
  readonly now: () => number;
  readonly onStarted: (session: Session, summary: ConversationSummary) => void;
  readonly onSummary: (summary: ConversationSummary) => void;
  /** The gateway may have kept it all the same, in a conversation that is known or in a new one. */
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
  /** Of what is shown: an older copy, from another replica or a request that was overtaken, changes nothing. */
  let updatedAt = 0;
  /** While the gateway has not answered yet. */
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
    // What had arrived before the connection was lost stays until the gateway has more.
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
    // What was written meanwhile belongs to this conversation, and not to the next new one.
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
      // Code is shown as it is; nothing of it has to be read anew.
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

/** Why what was said has no whole answer. */
export type ChatFailure =
  /** The gateway took nothing: what was said stands beside the conversation, to be sent again. */
  | { readonly kind: 'refused'; readonly text: string; readonly error: unknown }
  /** Stopped before the gateway said anything about it: it may have been taken. */
  | { readonly kind: 'withdrawn'; readonly text: string }
  /** The connection was lost while the answer was being written. */
  | { readonly kind: 'broken' };

/** Does something later; what it gives back takes that back. */
type Schedule = (callback: () => void, size: number) => () => void;

interface TextBatch {
  add(chunk: string): void;
  /** Before anything else is shown, so that the order stays. */
  flush(): void;
}

/** Pieces of text come faster than a screen can show them: they are put together until the next picture. */
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

/** A paragraph that has grown so long is read anew less often: reading it takes longer than a picture. */
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
