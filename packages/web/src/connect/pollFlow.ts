import type { FlowError, FlowStatusView } from '@behalf/contracts';
import { ApiError } from '../api/request.ts';
import type { ConnectProbe } from './connectState.ts';

/** How a sign-in ended, as the gateway says. */
export type FlowOutcome =
  | { readonly kind: 'completed'; readonly probe?: ConnectProbe }
  | { readonly kind: 'failed'; readonly error: FlowError }
  | { readonly kind: 'refused'; readonly error: unknown };

export interface FlowPollingParts {
  readonly status: (flowId: string, waitMs: number, signal: AbortSignal) => Promise<FlowStatusView>;
  /** Does something later; gives back how to take that back. */
  readonly timer: (ms: number, work: () => void) => () => void;
}

interface FlowPolling {
  /** How it ended; never rejects. Undefined: `stop` was called before. */
  readonly ended: Promise<FlowOutcome | undefined>;
  /** There may be something to hear: asks at once. */
  pollNow(): void;
  stop(): void;
}

/** As long as the gateway lets one wait. */
const MAX_WAIT_MS = 25_000;
const RETRY_MS = 2_000;

/** Asks how a sign-in stands until it is over. Nobody else decides it: not the window, and not what a message says. */
export function pollFlow({ status, timer }: FlowPollingParts, flowId: string): FlowPolling {
  const stopping = new AbortController();
  const isStopped = () => stopping.signal.aborted;
  let waitMs = MAX_WAIT_MS;
  let pollAbort = new AbortController();

  async function poll(): Promise<FlowOutcome | undefined> {
    while (!isStopped()) {
      pollAbort = new AbortController();
      const { signal } = pollAbort;
      const requestedWaitMs = waitMs;
      waitMs = MAX_WAIT_MS;
      try {
        const outcome = toFlowOutcome(await status(flowId, requestedWaitMs, signal));
        if (outcome && !isStopped()) return outcome;
      } catch (error) {
        if (signal.aborted) continue;
        const outcome = outcomeOfError(error);
        if (outcome) return outcome;
        await pause(signal);
      }
    }
    return undefined;
  }

  const pause = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const cancel = timer(RETRY_MS, resolve);
      signal.addEventListener('abort', () => {
        cancel();
        resolve();
      });
    });

  return {
    ended: poll(),
    pollNow() {
      waitMs = 0;
      pollAbort.abort();
    },
    stop() {
      stopping.abort();
      pollAbort.abort();
    },
  };
}

export function toFlowOutcome({ completed, failed, error, probe }: FlowStatusView): FlowOutcome | undefined {
  if (completed) return { kind: 'completed', ...(probe && { probe }) };
  return failed ? { kind: 'failed', error: error ?? 'callback_failed' } : undefined;
}

/** What will not be answered otherwise the next time. A gateway that is silent or busy has not said anything. */
function outcomeOfError(error: unknown): FlowOutcome | undefined {
  if (!(error instanceof ApiError)) return { kind: 'refused', error };
  if (error.code === 'MCP_FLOW_NOT_FOUND') return { kind: 'failed', error: 'flow_unknown' };
  if (error.code === 'MCP_FLOW_FORBIDDEN') return { kind: 'failed', error: 'flow_forbidden' };
  const isFinal = error.status >= 400 && error.status < 500 && error.status !== 429;
  return isFinal ? { kind: 'refused', error } : undefined;
}
