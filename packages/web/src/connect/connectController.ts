import type { FlowView, StartFlowRequest } from '@behalf/contracts';
import { ApiError } from '../api/request.ts';
import { type Store, createStore } from '../app/store.ts';
import type { ConnectState } from './connectState.ts';
import type { ListenForFlow } from './flowSignals.ts';
import { type FlowOutcome, type FlowPollingParts, pollFlow, toFlowOutcome } from './pollFlow.ts';
import { resolveOwnUrl } from './signInUrl.ts';

/** How often a window is looked at, how long what it said may be on its way, and how long anybody is waited for. */
const WINDOW_POLL_MS = 500;
const CLOSE_GRACE_MS = 3_000;
const CONNECT_TIMEOUT_MS = 5 * 60_000;
/** The gateway may have told the end before the window does; what that one leaves behind is cleared away. */
const LISTENER_LINGER_MS = 10_000;

export interface ConnectControllerParts extends FlowPollingParts {
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
export type ConnectOptions = Pick<StartFlowRequest, 'label' | 'scopes'>;

/** The sign-in of this page at one server. One at a time: whoever begins it again joins it. */
export interface ConnectController {
  readonly state: Store<ConnectState>;
  /** Call it in a click. Resolves when it is over: whether the server is connected. */
  begin(options?: ConnectOptions): Promise<boolean>;
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
  abandon: () => void;
}

export function createConnectController(parts: ConnectControllerParts): ConnectController {
  const { start, cancel, open, listen, timer, now, origin, returnTo, onConnected } = parts;
  const state = createStore<ConnectState>({ kind: 'idle' });
  let current: Attempt | undefined;

  async function runAttempt(
    attempt: Attempt,
    firstWindow: SignInWindow | undefined,
    options: ConnectOptions,
  ): Promise<ConnectState> {
    const abort = new AbortController();
    attempt.abandon = () => abort.abort();
    try {
      const flow = await start({ returnTo: returnTo(), ...options });
      const address = resolveOwnUrl(flow.connectUrl, origin)?.href;
      if (abort.signal.aborted) await cancel();
      else if (address === undefined) throw unreadableError();
      else return await waitForEnd(attempt, firstWindow, { id: flow.flowId, address });
    } catch (error) {
      if (!abort.signal.aborted) return { kind: 'refused', error };
    } finally {
      if (state.get().kind === 'starting') firstWindow?.close();
    }
    return { kind: 'idle' };
  }

  /** Until the gateway says how it ended, its user gives up, or nobody has done anything for too long. */
  async function waitForEnd(
    attempt: Attempt,
    firstWindow: SignInWindow | undefined,
    { id, address }: { readonly id: string; readonly address: string },
  ): Promise<ConnectState> {
    const polling = pollFlow(parts, id);
    let currentWindow: SignInWindow | undefined;
    let stopWindowPolling: () => void = () => undefined;
    let abandonedAs: ConnectState | undefined;

    function showWindow(popup: SignInWindow | undefined): void {
      stopWindowPolling();
      currentWindow = popup;
      popup?.navigate(address);
      state.set({ kind: 'waiting', address, window: popup ? 'open' : 'blocked' });
      if (popup) pollWindow(popup);
    }
    /** A window that seems closed may have gone to a site that hides from us: that says nothing of the sign-in. */
    function pollWindow(popup: SignInWindow): void {
      stopWindowPolling = timer(WINDOW_POLL_MS, () => {
        if (!popup.isClosed()) {
          pollWindow(popup);
          return;
        }
        stopWindowPolling = timer(CLOSE_GRACE_MS, () => {
          state.set({ kind: 'waiting', address, window: 'away' });
          polling.pollNow();
        });
      });
    }
    function abandon(as: ConnectState): void {
      if (abandonedAs) return;
      abandonedAs = as;
      stopWindowPolling();
      const waiting = state.get();
      if (waiting.kind === 'waiting') state.set({ ...waiting, isCanceling: true });
      polling.stop();
    }

    attempt.reopen = () => showWindow(open());
    attempt.abandon = () => abandon({ kind: 'idle' });
    const unlisten = listen(id, () => polling.pollNow());
    const stopTimeout = timer(CONNECT_TIMEOUT_MS, () => abandon({ kind: 'failed', error: 'expired' }));
    showWindow(firstWindow);
    const ended = await polling.ended;
    stopWindowPolling();
    stopTimeout();
    timer(LISTENER_LINGER_MS, unlisten);
    if (ended) return toConnectState(ended, now());
    const completed = await cancelUnlessCompleted(id);
    currentWindow?.close();
    return completed ? toConnectState(completed, now()) : (abandonedAs ?? { kind: 'idle' });
  }

  /** It may have succeeded before it was cancelled. */
  async function cancelUnlessCompleted(flowId: string): Promise<FlowOutcome | undefined> {
    try {
      await cancel();
      const latest = toFlowOutcome(await parts.status(flowId, 0, new AbortController().signal));
      return latest?.kind === 'completed' ? latest : undefined;
    } catch {
      // It ends by itself in a while.
      return undefined;
    }
  }

  return {
    state,
    begin(options = {}) {
      if (current) return current.ended;
      const popup = open();
      let resolveEnded: (isConnected: boolean) => void = () => undefined;
      const ended = new Promise<boolean>((resolve) => (resolveEnded = resolve));
      const attempt: Attempt = { ended, reopen: () => undefined, abandon: () => undefined };
      current = attempt;
      state.set({ kind: 'starting' });
      void runAttempt(attempt, popup, options).then((next) => {
        current = undefined;
        state.set(next);
        if (next.kind === 'connected') onConnected();
        resolveEnded(next.kind === 'connected');
      });
      return ended;
    },
    reopen: () => current?.reopen(),
    cancel: () => current?.abandon(),
    dismiss() {
      if (!current) state.set({ kind: 'idle' });
    },
  };
}

function unreadableError(): ApiError {
  return new ApiError({ code: 'UNREADABLE', status: 0, title: '', detail: '' });
}

function toConnectState(ended: FlowOutcome, at: number): ConnectState {
  if (ended.kind !== 'completed') return ended;
  return { kind: 'connected', at, ...(ended.probe && { probe: ended.probe }) };
}

/** The window in which somebody signs in. */
interface SignInWindow {
  navigate(address: string): void;
  /** Also true of a window that went to a page which does not want to be seen by who opened it. */
  isClosed(): boolean;
  close(): void;
}

const POPUP_FEATURES = 'popup,width=560,height=760';

/** Must be called in a click, before anything is waited for: a browser opens windows for nobody else. */
export function openSignInWindow(): SignInWindow | undefined {
  const opened = window.open('about:blank', '_blank', POPUP_FEATURES);
  if (!opened || opened.closed) return undefined;
  return {
    navigate: (address) => opened.location.replace(address),
    isClosed: () => opened.closed,
    close: () => opened.close(),
  };
}

/** The sign-ins of this page, by the server they are at. They go on while another page is looked at. */
interface ConnectControllers {
  get(server: string): ConnectController;
  /** Told when a server was connected, in this window or in another of the same browser. */
  onConnected(listener: (server: string) => void): () => void;
}

interface ConnectControllersParts {
  readonly create: (server: string, onConnected: () => void) => ConnectController;
  /** Tells the other windows. */
  readonly broadcast: (server: string) => void;
  /** Hears of them. */
  readonly onBroadcast: (listener: (server: string) => void) => void;
}

export function createConnectControllers({
  create,
  broadcast,
  onBroadcast,
}: ConnectControllersParts): ConnectControllers {
  const controllers = new Map<string, ConnectController>();
  const listeners = new Set<(server: string) => void>();
  const notifyListeners = (server: string) => {
    for (const listener of [...listeners]) listener(server);
  };
  onBroadcast(notifyListeners);
  return {
    get(server) {
      const controller =
        controllers.get(server) ??
        create(server, () => {
          notifyListeners(server);
          broadcast(server);
        });
      controllers.set(server, controller);
      return controller;
    },
    onConnected(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
