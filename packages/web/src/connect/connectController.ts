/**
 * Sign-in at an upstream server in a pop-up window.
 *
 * - Only the gateway's status decides how a sign-in ended. Signals of the window only trigger an early poll.
 * - The window navigates only to addresses of the gateway (`resolveOwnUrl`).
 * - One sign-in per server runs at a time. It is canceled after `CONNECT_TIMEOUT_MS`.
 * - A canceled sign-in that had already succeeded counts as connected.
 */

import type { FlowView, StartFlowRequest } from '@behalf/contracts';
import { ApiError } from '../api/request.ts';
import { type Store, createStore } from '../app/store.ts';
import type { ConnectState } from './connectState.ts';
import type { ListenForFlow } from './flowSignals.ts';
import { type FlowOutcome, type FlowPollingParts, pollFlow, toFlowOutcome } from './pollFlow.ts';
import { resolveOwnUrl } from './signInUrl.ts';

/** Interval of the window check, grace period after the window closes, timeout of a sign-in. */
const WINDOW_POLL_MS = 500;
const CLOSE_GRACE_MS = 3_000;
const CONNECT_TIMEOUT_MS = 5 * 60_000;
/**
 * The poll can end before the window signals. The listener stays active to remove the entry that
 * the window leaves in the storage.
 */
const LISTENER_LINGER_MS = 10_000;

export interface ConnectControllerParts extends FlowPollingParts {
  readonly start: (body: StartFlowRequest) => Promise<FlowView>;
  readonly cancel: () => Promise<void>;
  /** Must be called in a click handler: browsers block other pop-ups. */
  readonly open: () => SignInWindow | undefined;
  readonly listen: ListenForFlow;
  readonly now: () => number;
  readonly origin: string;
  /** Path to which the sign-in returns if it runs in this window. */
  readonly returnTo: () => string;
  readonly onConnected: () => void;
}

/** Label of the credential and requested scopes. */
export type ConnectOptions = Pick<StartFlowRequest, 'label' | 'scopes'>;

/** Sign-in of this page at one server. At most one runs: `begin` joins a running one. */
export interface ConnectController {
  readonly state: Store<ConnectState>;
  /** Must be called in a click handler. Resolves at the end, with true if the server is connected. */
  begin(options?: ConnectOptions): Promise<boolean>;
  /** Opens a new window for the running sign-in. Must be called in a click handler. */
  reopen(): void;
  cancel(): void;
  /** Resets a finished sign-in. */
  dismiss(): void;
}

/** Running sign-in with its currently available actions. */
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

  /** Waits until the gateway reports the end, the user cancels or the timeout expires. */
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
    /**
     * Polls the window. A window that seems closed may show a site with Cross-Origin-Opener-Policy,
     * so this says nothing about the sign-in.
     */
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

  /** Cancels the sign-in. Returns the outcome if the sign-in had already succeeded. */
  async function cancelUnlessCompleted(flowId: string): Promise<FlowOutcome | undefined> {
    try {
      await cancel();
      const latest = toFlowOutcome(await parts.status(flowId, 0, new AbortController().signal));
      return latest?.kind === 'completed' ? latest : undefined;
    } catch {
      // The gateway expires the sign-in.
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

/** Pop-up window of a sign-in. */
interface SignInWindow {
  navigate(address: string): void;
  /** Also true for an open window whose page sets Cross-Origin-Opener-Policy. */
  isClosed(): boolean;
  close(): void;
}

const POPUP_FEATURES = 'popup,width=560,height=760';

/** Opens a pop-up. Must be called in a click handler before any await: browsers block other pop-ups. */
export function openSignInWindow(): SignInWindow | undefined {
  const opened = window.open('about:blank', '_blank', POPUP_FEATURES);
  if (!opened || opened.closed) return undefined;
  return {
    navigate: (address) => opened.location.replace(address),
    isClosed: () => opened.closed,
    close: () => opened.close(),
  };
}

/** Controllers of this page by server. They continue when the user visits another page of the app. */
export interface ConnectControllers {
  get(server: string): ConnectController;
  /** Calls the listener when a server is connected in any window of this browser. */
  onConnected(listener: (server: string) => void): () => void;
}

interface ConnectControllersParts {
  readonly create: (server: string, onConnected: () => void) => ConnectController;
  /** Notifies the other windows. */
  readonly broadcast: (server: string) => void;
  /** Receives the notifications of other windows. */
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
