import type { FlowError, FlowStatusView } from '@behalf/contracts';
import { ApiError } from '../api/apiError.ts';
import type { Probe } from './connectState.ts';

/** How a sign-in ended, as the gateway says. */
export type FlowEnd =
  | { readonly kind: 'completed'; readonly probe?: Probe }
  | { readonly kind: 'failed'; readonly error: FlowError }
  | { readonly kind: 'refused'; readonly error: unknown };

export interface FollowParts {
  readonly status: (flowId: string, waitMs: number, signal: AbortSignal) => Promise<FlowStatusView>;
  /** Does something later; gives back how to take that back. */
  readonly timer: (ms: number, work: () => void) => () => void;
}

export interface Following {
  /** How it ended; never rejects. Undefined: `stop` was called before. */
  readonly ended: Promise<FlowEnd | undefined>;
  /** There may be something to hear: asks at once. */
  hurry(): void;
  stop(): void;
}

/** As long as the gateway lets one wait. */
const LONGEST_WAIT_MS = 25_000;
const RETRY_MS = 2_000;

/** Asks how a sign-in stands until it is over. Nobody else decides it: not the window, and not what a message says. */
export function followFlow({ status, timer }: FollowParts, flowId: string): Following {
  const stopping = new AbortController();
  const isStopped = () => stopping.signal.aborted;
  let waitMs = LONGEST_WAIT_MS;
  let asking = new AbortController();

  async function follow(): Promise<FlowEnd | undefined> {
    while (!isStopped()) {
      asking = new AbortController();
      const { signal } = asking;
      const wanted = waitMs;
      waitMs = LONGEST_WAIT_MS;
      try {
        const end = endOf(await status(flowId, wanted, signal));
        if (end && !isStopped()) return end;
      } catch (error) {
        if (signal.aborted) continue;
        const end = endBy(error);
        if (end) return end;
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
    ended: follow(),
    hurry() {
      waitMs = 0;
      asking.abort();
    },
    stop() {
      stopping.abort();
      asking.abort();
    },
  };
}

export function endOf({ completed, failed, error, probe }: FlowStatusView): FlowEnd | undefined {
  if (completed) return { kind: 'completed', ...(probe && { probe }) };
  return failed ? { kind: 'failed', error: error ?? 'callback_failed' } : undefined;
}

/** What will not be answered otherwise the next time. A gateway that is silent or busy has not said anything. */
function endBy(error: unknown): FlowEnd | undefined {
  if (!(error instanceof ApiError)) return { kind: 'refused', error };
  if (error.code === 'MCP_FLOW_NOT_FOUND') return { kind: 'failed', error: 'flow_unknown' };
  if (error.code === 'MCP_FLOW_FORBIDDEN') return { kind: 'failed', error: 'flow_forbidden' };
  const isFinal = error.status >= 400 && error.status < 500 && error.status !== 429;
  return isFinal ? { kind: 'refused', error } : undefined;
}
