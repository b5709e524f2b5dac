import type { FlowStatusView, FlowView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../api/request.ts';
import { createConnectController, type ConnectControllerParts } from './connectController.ts';

const origin = 'https://behalf.example';
const flow: FlowView = {
  flowId: 'f1',
  connectUrl: '/api/mcp/mail/oauth/initiate?flowId=f1',
  expiresAt: 600_000,
  label: 'default',
};
const address = `${origin}${flow.connectUrl}`;

const view = (status: FlowStatusView['status'], more: Partial<FlowStatusView> = {}): FlowStatusView => ({
  ...{ status, completed: status === 'COMPLETED', failed: status === 'FAILED', expiresAt: 600_000 },
  ...more,
});
const refusal = (code: ApiError['code'], status: number) =>
  new ApiError({ code, status, title: code, detail: code });

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A clock that a test moves. */
function createHands() {
  let now = 1_000;
  const timers = new Set<{ readonly at: number; readonly work: () => void }>();
  return {
    now: () => now,
    timer(ms: number, work: () => void) {
      const timer = { at: now + ms, work };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async move(ms: number) {
      const end = now + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (!next) break;
        now = next.at;
        timers.delete(next);
        next.work();
        await settle();
      }
      now = end;
    },
    pending: () => timers.size,
  };
}

interface RecordedRequest {
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly answer: (view: FlowStatusView) => void;
  readonly fail: (error: unknown) => void;
}

/** A sign-in whose gateway and window are played by the test. */
function rig(overrides: Partial<ConnectControllerParts> = {}) {
  const hands = createHands();
  const happened: string[] = [];
  const requests: RecordedRequest[] = [];
  const windows: { address: string; isClosed: boolean }[] = [];
  let notify: () => void = () => undefined;
  const connecting = createConnectController({
    start: async () => {
      happened.push('start');
      return flow;
    },
    cancel: async () => void happened.push('cancel'),
    status: (_flowId, waitMs, signal) =>
      new Promise((answer, fail) => {
        requests.push({ waitMs, signal, answer, fail });
        signal.addEventListener('abort', () => fail(new Error('aborted')));
      }),
    open() {
      happened.push('open');
      const opened = { address: '', isClosed: false };
      windows.push(opened);
      return {
        navigate: (to) => (opened.address = to),
        isClosed: () => opened.isClosed,
        close: () => (opened.isClosed = true),
      };
    },
    listen(flowId, listener) {
      happened.push(`listen ${flowId}`);
      notify = listener;
      return () => happened.push('unlisten');
    },
    timer: (ms, work) => hands.timer(ms, work),
    now: hands.now,
    origin,
    returnTo: () => '/tools/mail/send',
    onConnected: () => happened.push('connected'),
    ...overrides,
  });
  const at = (index: number) => {
    const one = requests.at(index);
    if (!one) throw new Error('Nobody asked');
    return one;
  };
  return { connecting, hands, happened, requests, at, windows, tell: () => notify() };
}

async function beginConnecting(overrides: Partial<ConnectControllerParts> = {}) {
  const one = rig(overrides);
  const ended = one.connecting.begin();
  await settle();
  return { ...one, ended, state: () => one.connecting.state.get() };
}

describe('connecting a server', () => {
  test('the window is there before the gateway is asked', async () => {
    const { connecting, happened, windows } = rig();
    void connecting.begin();
    expect(happened.slice(0, 2)).toEqual(['open', 'start']);
    expect(connecting.state.get()).toEqual({ kind: 'starting' });
    expect(windows[0]?.address).toBe('');
    await settle();
    expect(windows[0]?.address).toBe(address);
    expect(connecting.state.get()).toEqual({ kind: 'waiting', address, window: 'open' });
  });

  test('is over when the gateway says so, and not before', async () => {
    const { at, requests, ended, state, tell, happened, hands } = await beginConnecting();
    expect(at(0).waitMs).toBe(25_000);
    at(0).answer(view('PENDING'));
    await settle();
    expect([requests.length, at(1).waitMs]).toEqual([2, 25_000]);
    // A message makes it ask at once; what the message says does not count.
    tell();
    await settle();
    expect([at(1).signal.aborted, at(2).waitMs, state().kind]).toEqual([true, 0, 'waiting']);
    at(2).answer(view('PENDING'));
    await settle();
    expect([at(3).waitMs, state().kind]).toEqual([25_000, 'waiting']);
    at(3).answer(view('COMPLETED', { probe: 'ok' }));
    expect(await ended).toBe(true);
    expect(state()).toEqual({ kind: 'connected', at: 1_000, probe: 'ok' });
    expect(happened).toEqual(['open', 'start', 'listen f1', 'connected']);
    // Its window may still be about to tell.
    await hands.move(10_000);
    expect([happened.at(-1), hands.pending()]).toEqual(['unlisten', 0]);
  });

  test('what its user denied is shown at once', async () => {
    const { at, ended, state, tell } = await beginConnecting();
    tell();
    await settle();
    at(1).answer(view('FAILED', { error: 'access_denied' }));
    expect(await ended).toBe(false);
    expect(state()).toEqual({ kind: 'failed', error: 'access_denied' });
  });

  test('a window that seems closed is waited for, then asked about', async () => {
    const { at, requests, state, hands, windows, connecting, happened } = await beginConnecting();
    const [first] = windows;
    await hands.move(10_000);
    expect([state(), requests.length]).toEqual([{ kind: 'waiting', address, window: 'open' }, 1]);
    if (first) first.isClosed = true;
    await hands.move(500 + 2_999);
    expect([state(), requests.length]).toEqual([{ kind: 'waiting', address, window: 'open' }, 1]);
    await hands.move(1);
    expect([state(), requests.length, at(1).waitMs]).toEqual([
      { kind: 'waiting', address, window: 'away' },
      2,
      0,
    ]);
    // It may only have hidden itself: nothing is cancelled, and it can be opened again.
    at(1).answer(view('PENDING'));
    await settle();
    expect(state().kind).toBe('waiting');
    connecting.reopen();
    expect([windows[1]?.address, state()]).toEqual([address, { kind: 'waiting', address, window: 'open' }]);
    expect(happened).not.toContain('cancel');
    at(2).answer(view('COMPLETED'));
    await settle();
    expect(state().kind).toBe('connected');
  });

  test('without a window it goes on in this one, and is followed', async () => {
    const bodies: unknown[] = [];
    const { at, ended, state, hands } = await beginConnecting({
      open: () => undefined,
      async start(body) {
        bodies.push(body);
        return flow;
      },
    });
    expect(state()).toEqual({ kind: 'waiting', address, window: 'blocked' });
    expect(bodies).toEqual([{ returnTo: '/tools/mail/send' }]);
    await hands.move(60_000);
    expect(state().kind).toBe('waiting');
    at(0).answer(view('COMPLETED'));
    expect(await ended).toBe(true);
  });

  test('after five minutes it is cancelled, once', async () => {
    const { at, requests, ended, state, hands, happened, windows, connecting } = await beginConnecting();
    await hands.move(5 * 60_000 - 1);
    expect(happened).not.toContain('cancel');
    await hands.move(1);
    connecting.cancel();
    await settle();
    expect(happened.filter((what) => what === 'cancel')).toHaveLength(1);
    expect(at(requests.length - 1).waitMs).toBe(0);
    at(requests.length - 1).answer(view('FAILED', { error: 'cancelled' }));
    expect(await ended).toBe(false);
    expect(state()).toEqual({ kind: 'failed', error: 'expired' });
    await hands.move(10_000);
    expect([windows[0]?.isClosed, hands.pending()]).toEqual([true, 0]);
  });

  test('who cancels is rid of it, unless it had succeeded', async () => {
    const one = await beginConnecting();
    one.connecting.cancel();
    expect(one.state()).toMatchObject({ kind: 'waiting', isCanceling: true });
    await settle();
    one.at(-1).answer(view('FAILED', { error: 'cancelled' }));
    expect([await one.ended, one.state()]).toEqual([false, { kind: 'idle' }]);
    const late = await beginConnecting();
    late.connecting.cancel();
    await settle();
    late.at(-1).answer(view('COMPLETED'));
    expect([await late.ended, late.state().kind]).toEqual([true, 'connected']);
    const silent = await beginConnecting({ cancel: async () => Promise.reject(refusal('OFFLINE', 0)) });
    silent.connecting.cancel();
    expect([await silent.ended, silent.state()]).toEqual([false, { kind: 'idle' }]);
  });

  test('also before the gateway has answered', async () => {
    let answer: (flow: FlowView) => void = () => undefined;
    const { connecting, happened, windows } = rig({
      start: () => new Promise((resolve) => (answer = resolve)),
    });
    const ended = connecting.begin();
    connecting.cancel();
    answer(flow);
    expect(await ended).toBe(false);
    expect([connecting.state.get(), windows[0]?.isClosed]).toEqual([{ kind: 'idle' }, true]);
    expect(happened).toEqual(['open', 'cancel']);
  });

  test('a second click joins what is under way', async () => {
    const { connecting, happened, at, ended } = await beginConnecting();
    const again = connecting.begin();
    expect(happened.filter((what) => what === 'open' || what === 'start')).toEqual(['open', 'start']);
    at(0).answer(view('COMPLETED'));
    expect([await ended, await again]).toEqual([true, true]);
    void connecting.begin();
    expect(happened.filter((what) => what === 'open')).toHaveLength(2);
  });

  test('a gateway that is silent or busy has not said no', async () => {
    const { requests, at, hands, state, ended } = await beginConnecting();
    for (const error of [
      refusal('OFFLINE', 0),
      refusal('STORE_UNAVAILABLE', 503),
      refusal('RATE_LIMITED', 429),
    ]) {
      at(-1).fail(error);
      await settle();
      const before = requests.length;
      await hands.move(2_000);
      expect([requests.length, state().kind]).toEqual([before + 1, 'waiting']);
    }
    at(-1).fail(refusal('MCP_FLOW_NOT_FOUND', 404));
    expect(await ended).toBe(false);
    expect(state()).toEqual({ kind: 'failed', error: 'flow_unknown' });
  });

  test('what will not be answered otherwise ends it', async () => {
    const foreign = await beginConnecting();
    foreign.at(0).fail(refusal('MCP_FLOW_FORBIDDEN', 403));
    expect([await foreign.ended, foreign.state()]).toEqual([
      false,
      { kind: 'failed', error: 'flow_forbidden' },
    ]);
    const out = await beginConnecting();
    out.at(0).fail(refusal('AUTH_REQUIRED', 401));
    expect([await out.ended, out.state().kind]).toEqual([false, 'refused']);
    const odd = await beginConnecting();
    odd.at(0).answer(view('FAILED'));
    expect([await odd.ended, odd.state()]).toEqual([false, { kind: 'failed', error: 'callback_failed' }]);
  });

  test('the window of a sign-in that was not begun is closed', async () => {
    const error = refusal('MCP_FLOW_LIMIT', 429);
    const { ended, state, windows, connecting } = await beginConnecting({
      start: () => Promise.reject(error),
    });
    expect(await ended).toBe(false);
    expect([state(), windows[0]?.isClosed]).toEqual([{ kind: 'refused', error }, true]);
    connecting.dismiss();
    expect(state()).toEqual({ kind: 'idle' });
  });

  test('the window goes to this gateway or nowhere', async () => {
    for (const connectUrl of [
      'https://evil.example/authorize',
      '//evil.example',
      '/\\evil.example',
      'javascript:alert(1)',
      '',
    ]) {
      const { ended, state, windows } = await beginConnecting({
        start: async () => ({ ...flow, connectUrl }),
      });
      expect(await ended).toBe(false);
      expect([connectUrl, state().kind, windows[0]]).toEqual([
        connectUrl,
        'refused',
        { address: '', isClosed: true },
      ]);
    }
  });

  test('says which of several it is for, and what it has to reach', async () => {
    const bodies: unknown[] = [];
    const { connecting } = rig({
      async start(body) {
        bodies.push(body);
        return flow;
      },
    });
    void connecting.begin({ label: 'Work', scopes: 'read write' });
    await settle();
    expect(bodies).toEqual([{ returnTo: '/tools/mail/send', label: 'Work', scopes: 'read write' }]);
  });
});
