import type { FlowView, StartFlowRequest } from '@behalf/contracts';
import { ApiError } from '../api/apiError.ts';
import { createStore, type Store } from '../app/store.ts';
import type { ConnectState } from './connectState.ts';
import type { ListenForFlow } from './flowSignals.ts';
import { endOf, followFlow, type FlowEnd, type FollowParts } from './followFlow.ts';
import { ownAddress } from './ownAddress.ts';
import type { SignInWindow } from './signInWindow.ts';

/** How often a window is looked at, how long what it said may be on its way, and how long anybody is waited for. */
const LOOK_MS = 500;
const GRACE_MS = 3_000;
const LIMIT_MS = 5 * 60_000;
/** The gateway may have told the end before the window does; what that one leaves behind is cleared away. */
const LINGER_MS = 10_000;

export interface ConnectingParts extends FollowParts {
  readonly start: (body: StartFlowRequest) => Promise<FlowView>;
  readonly cancel: () => Promise<void>;
  /** Only ever called in a click. */
  readonly open: () => SignInWindow | undefined;
  readonly listen: ListenForFlow;
  readonly now: () => number;
  readonly origin: string;
  /** The path of the page, for who has to leave it. */
  readonly returnTo: () => string;
  readonly onConnected: () => void;
}

/** Which of several credentials it is for, and what it has to reach. */
export type Wanted = Pick<StartFlowRequest, 'label' | 'scopes'>;

/** The sign-in of this page at one server. One at a time: whoever begins it again joins it. */
export interface Connecting {
  readonly state: Store<ConnectState>;
  /** Call it in a click. Resolves when it is over: whether the server is connected. */
  begin(wanted?: Wanted): Promise<boolean>;
  /** Opens the window again. Call it in a click. */
  reopen(): void;
  cancel(): void;
  /** What went wrong was read. */
  dismiss(): void;
}

/** What is under way, and what its user can do with it just now. */
interface Attempt {
  readonly ended: Promise<boolean>;
  reopen: () => void;
  giveUp: () => void;
}

export function createConnecting(parts: ConnectingParts): Connecting {
  const { start, cancel, open, listen, timer, now, origin, returnTo, onConnected } = parts;
  const state = createStore<ConnectState>({ kind: 'idle' });
  let current: Attempt | undefined;

  async function connect(
    attempt: Attempt,
    first: SignInWindow | undefined,
    wanted: Wanted,
  ): Promise<ConnectState> {
    const unwanted = new AbortController();
    attempt.giveUp = () => unwanted.abort();
    try {
      const flow = await start({ returnTo: returnTo(), ...wanted });
      const address = ownAddress(flow.connectUrl, origin)?.href;
      if (unwanted.signal.aborted) await cancel();
      else if (address === undefined) throw unreadable();
      else return await watch(attempt, first, { id: flow.flowId, address });
    } catch (error) {
      if (!unwanted.signal.aborted) return { kind: 'refused', error };
    } finally {
      if (state.get().kind === 'starting') first?.close();
    }
    return { kind: 'idle' };
  }

  /** Until the gateway says how it ended, its user gives up, or nobody has done anything for too long. */
  async function watch(
    attempt: Attempt,
    first: SignInWindow | undefined,
    { id, address }: { readonly id: string; readonly address: string },
  ): Promise<ConnectState> {
    const following = followFlow(parts, id);
    let shown: SignInWindow | undefined;
    let stopLooking: () => void = () => undefined;
    let givenUp: ConnectState | undefined;

    function show(opened: SignInWindow | undefined): void {
      stopLooking();
      shown = opened;
      opened?.go(address);
      state.set({ kind: 'waiting', address, window: opened ? 'open' : 'blocked' });
      if (opened) look(opened);
    }
    /** A window that seems closed may have gone to a site that hides from us: that says nothing of the sign-in. */
    function look(opened: SignInWindow): void {
      stopLooking = timer(LOOK_MS, () => {
        if (!opened.isClosed()) {
          look(opened);
          return;
        }
        stopLooking = timer(GRACE_MS, () => {
          state.set({ kind: 'waiting', address, window: 'away' });
          following.hurry();
        });
      });
    }
    function giveUp(as: ConnectState): void {
      if (givenUp) return;
      givenUp = as;
      stopLooking();
      const waiting = state.get();
      if (waiting.kind === 'waiting') state.set({ ...waiting, isEnding: true });
      following.stop();
    }

    attempt.reopen = () => show(open());
    attempt.giveUp = () => giveUp({ kind: 'idle' });
    const unlisten = listen(id, () => following.hurry());
    const stopLimit = timer(LIMIT_MS, () => giveUp({ kind: 'failed', error: 'expired' }));
    show(first);
    const ended = await following.ended;
    stopLooking();
    stopLimit();
    timer(LINGER_MS, unlisten);
    if (ended) return stateOf(ended, now());
    const late = await cancelled(id);
    shown?.close();
    return late ? stateOf(late, now()) : (givenUp ?? { kind: 'idle' });
  }

  /** It may have succeeded before it was cancelled. */
  async function cancelled(flowId: string): Promise<FlowEnd | undefined> {
    try {
      await cancel();
      const last = endOf(await parts.status(flowId, 0, new AbortController().signal));
      return last?.kind === 'completed' ? last : undefined;
    } catch {
      // It ends by itself in a while.
      return undefined;
    }
  }

  return {
    state,
    begin(wanted = {}) {
      if (current) return current.ended;
      const opened = open();
      let settle: (isConnected: boolean) => void = () => undefined;
      const ended = new Promise<boolean>((resolve) => (settle = resolve));
      const attempt: Attempt = { ended, reopen: () => undefined, giveUp: () => undefined };
      current = attempt;
      state.set({ kind: 'starting' });
      void connect(attempt, opened, wanted).then((next) => {
        current = undefined;
        state.set(next);
        if (next.kind === 'connected') onConnected();
        settle(next.kind === 'connected');
      });
      return ended;
    },
    reopen: () => current?.reopen(),
    cancel: () => current?.giveUp(),
    dismiss() {
      if (!current) state.set({ kind: 'idle' });
    },
  };
}

function unreadable(): ApiError {
  return new ApiError({ code: 'UNREADABLE', status: 0, title: '', detail: '' });
}

function stateOf(ended: FlowEnd, at: number): ConnectState {
  if (ended.kind !== 'completed') return ended;
  return { kind: 'connected', at, ...(ended.probe && { probe: ended.probe }) };
}
