import type { ChatCall, ChatEvent, ChatMessage, ChatRequest, ConversationView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../api/request.ts';
import { answerText, type AnswerState, type CallState } from './messages.ts';
import { createSession, type Session, type SessionParts } from './session.ts';
import { createSessions } from './sessions.ts';

const authority = { kind: 'none', shared: true } as const;
const call: ChatCall = {
  ...{ callId: 'c1', server: 'everything', serverTitle: 'Everything', tool: 'echo' },
  ...{ arguments: { message: 'hi' }, authority, state: 'running' },
};
const summary = { id: 'k1', title: 'Hello', createdAt: 1, updatedAt: 50 };

function done(parts: Extract<ChatMessage, { role: 'assistant' }>['parts']): ChatEvent {
  const message = { id: 'a1', role: 'assistant', parts, model: 'm', finish: 'stop', at: 2 } as const;
  return { event: 'done', data: { conversation: summary, message, finish: 'stop' } };
}

/** A stream that a test fills by hand. */
function createFeed() {
  const waiting: ChatEvent[] = [];
  let isOver = false;
  let failure: Error | undefined;
  let wake = () => {};
  return {
    push(...events: readonly ChatEvent[]) {
      waiting.push(...events);
      wake();
    },
    end() {
      isOver = true;
      wake();
    },
    fail(error: Error) {
      failure = error;
      wake();
    },
    async *events(): AsyncGenerator<ChatEvent> {
      for (;;) {
        const next = waiting.shift();
        if (next) yield next;
        else if (failure) throw failure;
        else if (isOver) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

function setUp(overrides: Partial<SessionParts> = {}, view?: ConversationView) {
  const feed = createFeed();
  const requests: ChatRequest[] = [];
  const frames: (() => void)[] = [];
  const parts: SessionParts = {
    startAnswer: async (body) => {
      requests.push(body);
      return { conversationId: 'k1', events: feed.events() };
    },
    stopAnswer: async () => undefined,
    resumeCall: async () => undefined,
    schedule(work) {
      frames.push(work);
      return () => void frames.splice(frames.indexOf(work), 1);
    },
    drafts: { read: () => '', write: () => {}, whenOwnerKnown: (work) => work() },
    now: () => 10,
    onStarted: () => {},
    onSummary: () => {},
    onWithdrawn: () => {},
    ...overrides,
  };
  return { feed, requests, frames, parts, session: createSession(parts, view) };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const answerOf = (session: Session) => session.messages.get().at(-1) as AnswerState;
const partsOf = (session: Session) => answerOf(session).parts.get();
const callOf = (session: Session, index: number) => partsOf(session)[index]?.state.get() as CallState;

describe('a conversation on the page', () => {
  test('shows what is said at once, and pieces of the answer with the next picture', async () => {
    const { session, feed, requests, frames } = setUp();
    const sent = session.send('Hello', () => ({ model: 'm' }));
    expect(session.messages.get().map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(session.state.get()).toEqual({ answering: 'local' });
    await settle();
    expect(requests).toEqual([{ text: 'Hello', model: 'm' }]);
    feed.push({ event: 'text', data: { text: 'Good ' } }, { event: 'text', data: { text: 'day' } });
    await settle();
    expect(partsOf(session)).toEqual([]);
    expect(frames).toHaveLength(1);
    frames.pop()?.();
    expect(answerText(answerOf(session))).toBe('Good day');
    feed.push(done([{ type: 'text', text: 'Good day' }]));
    await sent;
    expect(session.state.get()).toEqual({ answering: 'no' });
    expect(answerOf(session).status.get()).toMatchObject({ isRunning: false, finish: 'stop' });
  });

  test('tells nobody of a piece of text but the part it belongs to', async () => {
    const { session, feed, frames } = setUp();
    void session.send('Hello', () => ({}));
    feed.push({ event: 'text', data: { text: 'one' } });
    await settle();
    frames.pop()?.();
    const received: string[] = [];
    const part = partsOf(session)[0]!;
    part.state.subscribe(() => received.push('part'));
    answerOf(session).parts.subscribe(() => received.push('parts'));
    answerOf(session).status.subscribe(() => received.push('status'));
    session.messages.subscribe(() => received.push('messages'));
    session.state.subscribe(() => received.push('state'));
    for (const text of [' two', ' three']) {
      feed.push({ event: 'text', data: { text } });
      await settle();
      frames.pop()?.();
    }
    expect(received).toEqual(['part', 'part']);
    feed.push(done([{ type: 'text', text: 'one two three' }]));
    await settle();
    // The end says the same words once more: they are not told again.
    expect(received).toEqual(['part', 'part', 'status', 'state']);
  });

  test('keeps the order of text and calls, and follows a call to its end', async () => {
    const { session, feed } = setUp();
    void session.send('Hello', () => ({}));
    feed.push(
      { event: 'text', data: { text: 'Let me see.' } },
      { event: 'tool_call', data: { call } },
      { event: 'progress', data: { callId: 'c1', progress: 1, total: 4, message: 'working' } },
      { event: 'progress', data: { callId: 'unknown' } },
    );
    await settle();
    expect(partsOf(session).map(({ type }) => type)).toEqual(['text', 'call']);
    expect(callOf(session, 1).progress).toEqual({ progress: 1, total: 4, message: 'working' });
    feed.push({ event: 'approval', data: { callId: 'c1', expiresAt: 99 } });
    await settle();
    expect(callOf(session, 1)).toMatchObject({ call: { state: 'waiting' }, expiresAt: 99 });
    expect(session.announcement.get()).toContain('echo');
    const ended: ChatCall = { ...call, state: 'done', result: { content: [] }, durationMs: 5 };
    feed.push({ event: 'result', data: { call: ended } });
    await settle();
    expect(callOf(session, 1)).toEqual({ call: ended });
  });

  test('goes on with what waits for a sign-in, and only that', async () => {
    const removed: string[] = [];
    const { session, feed } = setUp({
      resumeCall: async (id, callId) => void removed.push(`${id} ${callId}`),
    });
    void session.send('Hello', () => ({}));
    const other = { ...call, callId: 'c2' };
    feed.push({ event: 'tool_call', data: { call } }, { event: 'tool_call', data: { call: other } });
    await settle();
    session.resumeAfterConnect('everything');
    expect(removed).toEqual([]);
    const connect = { server: 'everything', title: 'Everything', reason: 'absent', connectUrl: '/servers/x' };
    feed.push(
      { event: 'connect', data: { callId: 'c1', connect, expiresAt: 99 } },
      { event: 'connect', data: { callId: 'c2', connect } },
    );
    await settle();
    expect(callOf(session, 0)).toEqual({ call: { ...call, connect, state: 'waiting' }, expiresAt: 99 });
    expect(callOf(session, 1)).toEqual({ call: { ...other, connect } });
    session.resumeAfterConnect('another');
    expect(removed).toEqual([]);
    session.resumeAfterConnect('everything');
    expect(removed).toEqual(['k1 c1']);
    feed.push({ event: 'tool_call', data: { call } });
    await settle();
    expect(callOf(session, 0)).toEqual({ call });
    session.resumeAfterConnect('everything');
    expect(removed).toHaveLength(1);
  });

  test('keeps what was refused beside the conversation, and a new attempt takes its place', async () => {
    const error = new ApiError({ code: 'RATE_LIMITED', status: 429, title: '', detail: '' });
    let isRefused = true;
    const { session, parts } = setUp();
    const refusing = createSession({
      ...parts,
      startAnswer: (body, signal) => (isRefused ? Promise.reject(error) : parts.startAnswer(body, signal)),
    });
    await expect(refusing.send('Hello', () => ({}))).rejects.toBe(error);
    expect(refusing.messages.get()).toEqual([]);
    expect(refusing.state.get()).toEqual({
      answering: 'no',
      failure: { kind: 'refused', text: 'Hello', error },
    });
    isRefused = false;
    void refusing.send('Hello', () => ({}));
    expect(refusing.messages.get()).toHaveLength(2);
    expect(refusing.state.get().failure).toBeUndefined();
    expect(session.messages.get()).toEqual([]);
  });

  test('leaves what had arrived when the connection breaks, until the gateway has more', async () => {
    const { session, feed } = setUp();
    const sent = session.send('Hello', () => ({}));
    feed.push({ event: 'text', data: { text: 'Half of' } });
    await settle();
    feed.fail(new ApiError({ code: 'OFFLINE', status: 0, title: '', detail: '' }));
    await expect(sent).rejects.toThrow('OFFLINE');
    expect(answerText(answerOf(session))).toBe('Half of');
    expect(session.state.get()).toEqual({ answering: 'no', failure: { kind: 'broken' } });

    const question = { id: 'q1', role: 'user', text: 'Hello', at: 1 } as const;
    session.applyView({ ...summary, messages: [question], isRunning: true });
    expect(answerText(answerOf(session))).toBe('Half of');
    expect(session.state.get()).toMatchObject({ answering: 'remote', failure: { kind: 'broken' } });

    const answer = { id: 'a1', role: 'assistant', model: 'm', at: 2 } as const;
    session.applyView({
      ...summary,
      messages: [question, { ...answer, parts: [{ type: 'text', text: 'Half' }] }],
      isRunning: true,
    });
    expect(answerText(answerOf(session))).toBe('Half of');
    const shown = answerOf(session);
    session.applyView({
      ...summary,
      messages: [question, { ...answer, finish: 'stop', parts: [{ type: 'text', text: 'Half of it.' }] }],
      isRunning: false,
    });
    expect(answerOf(session)).toBe(shown);
    expect(answerText(shown)).toBe('Half of it.');
    expect(session.state.get()).toEqual({ answering: 'no' });
  });

  test('is not put back by a copy that is older than what it shows', async () => {
    const { session, feed } = setUp();
    const sent = session.send('Hello', () => ({}));
    feed.push(done([{ type: 'text', text: 'Good day' }]));
    await sent;
    session.applyView({ ...summary, updatedAt: 40, messages: [], isRunning: false });
    expect(session.messages.get()).toHaveLength(2);
  });

  test('takes back what the gateway has not answered yet, and asks it to stop what it has', async () => {
    const stopped: string[] = [];
    const withdrawn: (string | undefined)[] = [];
    const { parts } = setUp({
      stopAnswer: async (id) => stopped.push(id),
      onWithdrawn: (id) => withdrawn.push(id),
    });
    const silent = createSession({
      ...parts,
      startAnswer: (_body, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    });
    const sent = silent.send('Hello', () => ({}));
    await silent.stop();
    await sent;
    expect(silent.state.get()).toEqual({ answering: 'no', failure: { kind: 'withdrawn', text: 'Hello' } });
    expect(stopped).toEqual([]);
    expect(withdrawn).toEqual([undefined]);
    // The gateway had it already: it is said once.
    const question = { id: 'q1', role: 'user', text: 'Hello', at: 1 } as const;
    silent.applyView({ ...summary, messages: [question], isRunning: false });
    expect(silent.state.get()).toEqual({ answering: 'no' });

    const { session } = setUp({ stopAnswer: async (id) => stopped.push(id) });
    void session.send('Hello', () => ({}));
    await settle();
    await session.stop();
    expect(stopped).toEqual(['k1']);
  });
});

describe('the conversations of a page', () => {
  test('go on under their id once they have begun', async () => {
    const { parts } = setUp();
    const sessions = createSessions(parts);
    const first = sessions.openNew();
    expect(sessions.openNew()).toBe(first);
    void first.send('Hello', () => ({}));
    await settle();
    expect(first.id.get()).toBe('k1');
    expect(sessions.get('k1')).toBe(first);
    expect(sessions.openNew()).not.toBe(first);
    sessions.forget('k1');
    expect(sessions.get('k1')).toBeUndefined();
  });

  test('take what was written meanwhile with them, and leave nothing behind', async () => {
    const stored = new Map<string, string>();
    const { parts } = setUp({
      drafts: {
        read: (id = 'new') => stored.get(id) ?? '',
        write: (id = 'new', text) => void (text === '' ? stored.delete(id) : stored.set(id, text)),
        whenOwnerKnown: (work) => work(),
      },
    });
    const sessions = createSessions(parts);
    const first = sessions.openNew();
    void first.send('Hello', () => ({}));
    first.draft.set('and also');
    expect([...stored]).toEqual([['new', 'and also']]);
    await settle();
    expect([...stored]).toEqual([['k1', 'and also']]);
    expect(sessions.openNew().draft.get()).toBe('');
  });

  test('are not kept without end, but while they are written', () => {
    const { parts } = setUp();
    const sessions = createSessions(parts);
    const view = (id: string) => ({ ...summary, id, messages: [], isRunning: false });
    void sessions.open(view('writing')).send('Hello', () => ({}));
    for (let count = 0; count < 30; count += 1) sessions.open(view(`v${count}`));
    expect(sessions.get('writing')).toBeDefined();
    expect(sessions.get('v0')).toBeUndefined();
    expect(sessions.get('v29')).toBeDefined();
  });
});
