import type { FlowError, FlowStatusView } from '@behalf/contracts';
import { ApiError } from '../api/request.ts';
import type { ConnectProbe } from './connectState.ts';

/** Outcome of a sign-in as reported by the gateway. */
export type FlowOutcome =
  | { readonly kind: 'completed'; readonly probe?: ConnectProbe }
  | { readonly kind: 'failed'; readonly error: FlowError }
  | { readonly kind: 'refused'; readonly error: unknown };

export interface FlowPollingParts {
  readonly status: (flowId: string, waitMs: number, signal: AbortSignal) => Promise<FlowStatusView>;
  /** Schedules `work` and returns a function that cancels it. */
  readonly timer: (ms: number, work: () => void) => () => void;
}

interface FlowPolling {
  /** Outcome of the sign-in, or undefined after `stop`. Never rejects. */
  readonly ended: Promise<FlowOutcome | undefined>;
  /** Aborts the current long poll and polls immediately. */
  pollNow(): void;
  stop(): void;
}

/** Maximum `wait` of the status request that the gateway accepts. */
const MAX_WAIT_MS = 25_000;
const RETRY_MS = 2_000;

/** Polls the status of a sign-in until it ends. Only this status decides the outcome. */
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

/** Returns the outcome for a final error. Network errors, 429 and 5xx are retried. */
function outcomeOfError(error: unknown): FlowOutcome | undefined {
  if (!(error instanceof ApiError)) return { kind: 'refused', error };
  if (error.code === 'MCP_FLOW_NOT_FOUND') return { kind: 'failed', error: 'flow_unknown' };
  if (error.code === 'MCP_FLOW_FORBIDDEN') return { kind: 'failed', error: 'flow_forbidden' };
  const isFinal = error.status >= 400 && error.status < 500 && error.status !== 429;
  return isFinal ? { kind: 'refused', error } : undefined;
}
