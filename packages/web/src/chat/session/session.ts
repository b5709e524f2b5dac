import { createConversationTitle } from '@behalf/contracts/plain';
import type { ChatMessage, ChatRequest, ConversationSummary, ConversationView } from '@behalf/contracts';
import type { ChatStream } from '../../api/chat.ts';
import { createStore, type Store } from '../../app/store.ts';
import { announcementOf } from './announcement.ts';
import { applyEvent, heldCalls } from './applyEvent.ts';
import type { Drafts } from './drafts.ts';
import type { Failure } from './failure.ts';
import { createAnswer, createQuestion, nextId, type AnswerState, type MessageState } from './messages.ts';
import { reconcileMessages } from './reconcile.ts';
import { createTextBatch, type Schedule } from './textBatch.ts';

/** `here`: this page listens to the answer. `elsewhere`: another window does, or nobody any more. */
export type Writing = 'no' | 'here' | 'elsewhere';

export interface SessionState {
  readonly writing: Writing;
  /** Asked to, and not over yet. */
  readonly isStopping?: boolean;
  readonly failure?: Failure;
}

/** With which model, and which servers' tools. */
export type Choice = Pick<ChatRequest, 'endpoint' | 'model' | 'servers'>;

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
  send(text: string, choose: () => Choice | Promise<Choice>): Promise<void>;
  stop(): Promise<void>;
  /** What the gateway keeps of this conversation. */
  receive(view: ConversationView): void;
  /** Takes back what could not be sent. */
  dismissFailure(): void;
  /** Its user has signed in at this server: what waits for that goes on. */
  connected(server: string): void;
}

export interface SessionParts {
  readonly begin: (body: ChatRequest, signal: AbortSignal) => Promise<ChatStream>;
  readonly stop: (id: string) => Promise<unknown>;
  /** A call that waited for a sign-in shall be made. Never rejects. */
  readonly goOn: (id: string, callId: string) => Promise<void>;
  readonly drafts: Drafts;
  readonly schedule: Schedule;
  readonly now: () => number;
  readonly onBegun: (session: Session, summary: ConversationSummary) => void;
  readonly onSummary: (summary: ConversationSummary) => void;
  /** The gateway may have kept it all the same, in a conversation that is known or in a new one. */
  readonly onWithdrawn: (id: string | undefined) => void;
}

export function createSession(parts: SessionParts, view?: ConversationView): Session {
  const id = createStore<string | undefined>(view?.id);
  const title = createStore(view?.title ?? '');
  const messages = createStore<readonly MessageState[]>([]);
  const state = createStore<SessionState>({ writing: 'no' });
  const announcement = createStore('');
  const draft = createStore('');
  const keepDraft = () => parts.drafts.write(id.get(), draft.get());
  draft.subscribe(keepDraft);
  parts.drafts.whenKnown(() => {
    if (draft.get() === '') draft.set(parts.drafts.read(id.get()));
    else keepDraft();
  });
  /** Of what is shown: an older copy, from another replica or a request that was overtaken, changes nothing. */
  let updatedAt = 0;
  /** While the gateway has not answered yet. */
  let asking: AbortController | undefined;

  function receive(next: ConversationView): void {
    if (state.get().writing === 'here' || next.updatedAt < updatedAt) return;
    updatedAt = next.updatedAt;
    title.set(next.title);
    const shown = messages.get();
    const { failure } = state.get();
    const isBroken = failure?.kind === 'broken' && next.messages.length < shown.length;
    const isTaken = failure?.kind === 'withdrawn' && says(next.messages.slice(shown.length), failure.text);
    const kept = reconcileMessages(shown, next.messages, next.isRunning);
    // What had arrived before the connection was lost stays until the gateway has more.
    messages.set(isBroken ? [...kept, ...shown.slice(kept.length)] : kept);
    state.set({
      writing: next.isRunning ? 'elsewhere' : 'no',
      ...(failure && (failure.kind !== 'broken' || isBroken) && !isTaken && { failure }),
    });
  }

  async function send(text: string, choose: () => Choice | Promise<Choice>): Promise<void> {
    if (state.get().writing !== 'no') return;
    const before = messages.get();
    const at = parts.now();
    const answer = createAnswer({ isRunning: true, model: '', at });
    messages.set([...before, createQuestion(text, at), answer]);
    state.set({ writing: 'here' });
    const controller = (asking = new AbortController());
    const conversationId = id.get();
    let stream: ChatStream;
    try {
      const body = { text, ...(await choose()), ...(conversationId !== undefined && { conversationId }) };
      controller.signal.throwIfAborted();
      stream = await parts.begin(body, controller.signal);
    } catch (error) {
      messages.set(before);
      const isOurs = controller.signal.aborted;
      state.set({
        writing: 'no',
        failure: isOurs ? { kind: 'withdrawn', text } : { kind: 'refused', text, error },
      });
      if (isOurs) {
        parts.onWithdrawn(conversationId);
        return;
      }
      throw error;
    } finally {
      asking = undefined;
    }
    if (conversationId === undefined) begun(stream.conversationId, text, at);
    await listen(stream, answer);
  }

  function begun(newId: string, text: string, at: number): void {
    // What was written meanwhile belongs to this conversation, and not to the next new one.
    parts.drafts.write(undefined, '');
    id.set(newId);
    keepDraft();
    title.set(createConversationTitle(text));
    parts.onBegun(session, { id: newId, title: title.get(), createdAt: at, updatedAt: at });
  }

  async function listen(stream: ChatStream, answer: AnswerState): Promise<void> {
    const size = () => {
      const part = answer.parts.get().at(-1);
      if (part?.type !== 'text') return 0;
      const { open, isCode } = part.state.get().blocks;
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
        announcement.set(announcementOf(answer, event) ?? announcement.get());
        if (event.event !== 'done') continue;
        ended(event.data.conversation);
        return;
      }
    } catch (error) {
      batch.flush();
      answer.status.set({ ...answer.status.get(), isRunning: false });
      state.set({ writing: 'no', failure: { kind: 'broken' } });
      throw error;
    }
  }

  function ended(summary: ConversationSummary): void {
    updatedAt = summary.updatedAt;
    title.set(summary.title);
    state.set({ writing: 'no' });
    parts.onSummary(summary);
  }

  const session: Session = {
    key: nextId(),
    ...{ id, title, messages, state, announcement, draft, send, receive },
    async stop() {
      const known = id.get();
      const before = state.get();
      state.set({ ...before, isStopping: true });
      if (asking) asking.abort();
      else if (known !== undefined) {
        try {
          await parts.stop(known);
        } catch (error) {
          if (state.get().writing !== 'no') state.set(before);
          throw error;
        }
      }
    },
    dismissFailure: () => state.set({ writing: state.get().writing }),
    connected(server) {
      const known = id.get();
      const answer = messages.get().at(-1);
      if (known === undefined || state.get().writing !== 'here' || answer?.role !== 'assistant') return;
      for (const callId of heldCalls(answer, server)) void parts.goOn(known, callId);
    },
  };
  if (view) receive(view);
  return session;
}

function says(messages: readonly ChatMessage[], text: string): boolean {
  return messages.some((message) => message.role === 'user' && message.text === text);
}
