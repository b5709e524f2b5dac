import type { ErrorCode } from '@behalf/contracts';
import { type Cancel, type Clock, type Random, abortReason } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Log, ServerClaims } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { AppServer, ServerSnapshot } from './definition.ts';

/** What a look at a server found. */
export interface InspectionResult {
  readonly claims: ServerClaims;
  /** How many it offers. */
  readonly toolCount: number;
}

export type InspectionState =
  /** Never looked at: it needs a user, or its definition says so. */
  | { readonly kind: 'skipped' }
  | { readonly kind: 'pending' }
  | {
      readonly kind: 'ok';
      readonly claims: ServerClaims;
      readonly toolCount: number;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode;
      /** When it first failed in this row. */
      readonly since: number;
      readonly retryAt: number;
    };

/** How one look is to be taken. */
export interface InspectionOptions {
  readonly signal: AbortSignal;
  /** Somebody asked for this very look: it passes an open breaker. */
  readonly bypassesBreaker: boolean;
}

interface InspectionSchedulerParts {
  readonly inspect: (server: AppServer, options: InspectionOptions) => Promise<InspectionResult>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Looks at every shared server once, and again while it fails. Nobody waits for it. */
export interface InspectionScheduler {
  /** The servers there are now: new ones are looked at, the others forgotten. */
  update(servers: readonly ServerSnapshot[]): void;
  getState(server: ServerSnapshot): InspectionState;
  /**
   * Now, for who asks explicitly, past an open breaker; the next look in the background is not put off by it. Refused
   * for a server that works, and for one nobody knows.
   */
  reinspect(server: ServerSnapshot, signal?: AbortSignal): Promise<InspectionState>;
  close(): void;
}

const MAX_CONCURRENT_INSPECTIONS = 8;
const INSPECTION_TIMEOUT_MS = 30_000;
const INITIAL_RETRY_MS = 30_000;
const MAX_RETRY_MS = 300_000;
/** An administrator's override that fails is not tried again sooner: its base serves meanwhile. */
const OVERRIDE_RETRY_MS = 300_000;

interface ScheduledRetry {
  readonly at: number;
  readonly cancel: Cancel;
}

interface InspectedServer {
  readonly server: AppServer;
  state: InspectionState;
  failureCount: number;
  /** The look in progress or in the queue. */
  activeInspection: { readonly bypassesBreaker: boolean; readonly done: Promise<void> } | null;
  /** The next look in the background. */
  retry: ScheduledRetry | null;
  readonly removal: AbortController;
}

const skippedState: InspectionState = { kind: 'skipped' };

export function createInspectionScheduler({
  inspect,
  clock,
  random,
  log,
}: InspectionSchedulerParts): InspectionScheduler {
  let entries = new Map<string, InspectedServer>();
  const queue: (() => void)[] = [];
  let activeCount = 0;
  let isClosed = false;

  /** One of a few places; whoever leaves hands it on. */
  async function limitConcurrency(work: () => Promise<void>): Promise<void> {
    if (activeCount >= MAX_CONCURRENT_INSPECTIONS) await new Promise<void>((wake) => queue.push(wake));
    else activeCount += 1;
    try {
      await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else activeCount -= 1;
    }
  }

  function inspectEntry(entry: InspectedServer, bypassesBreaker: boolean): Promise<void> {
    entry.activeInspection ??= {
      bypassesBreaker,
      done: limitConcurrency(() => runInspection(entry, bypassesBreaker)).finally(() => {
        entry.activeInspection = null;
      }),
    };
    return entry.activeInspection.done;
  }

  async function reinspectFailed(entry: InspectedServer): Promise<void> {
    // One in the background may have ended at an open breaker.
    if (entry.activeInspection?.bypassesBreaker === false) await entry.activeInspection.done;
    if (entry.state.kind === 'failed') await inspectEntry(entry, true);
  }

  async function runInspection(entry: InspectedServer, bypassesBreaker: boolean): Promise<void> {
    const { server, removal } = entry;
    const isRemoved = () => removal.signal.aborted;
    if (isRemoved()) return;
    const startedAt = clock.now();
    try {
      const { claims, toolCount } = await withTimeout(
        (signal) => inspect(server, { signal, bypassesBreaker }),
        removal.signal,
        clock,
      );
      entry.retry?.cancel();
      entry.retry = null;
      entry.failureCount = 0;
      entry.state = Object.freeze({ kind: 'ok', claims, toolCount, durationMs: clock.now() - startedAt });
    } catch (error) {
      if (isRemoved()) return;
      recordFailure(entry, toErrorCode(error));
    }
  }

  function recordFailure(entry: InspectedServer, code: ErrorCode): void {
    const { server, state } = entry;
    const now = clock.now();
    const since = state.kind === 'failed' ? state.since : now;
    // If one is still to come, somebody asked in between: one user's retries do not put it off for the others.
    entry.retry ??= scheduleRetry(entry, now);
    const { at } = entry.retry;
    entry.state = Object.freeze({ kind: 'failed', code, since, retryAt: at });
    log('server_inspection_failed', { server: server.name, code, retryInMs: at - now });
  }

  function scheduleRetry(entry: InspectedServer, now: number): ScheduledRetry {
    const backoffMs = Math.min(MAX_RETRY_MS, INITIAL_RETRY_MS * 2 ** Math.min(entry.failureCount, 10));
    // Between three quarters and the whole: servers that failed together do not come back together.
    const delayMs =
      entry.server.source === 'config'
        ? OVERRIDE_RETRY_MS
        : Math.round(backoffMs * (0.75 + random.uniform() / 4));
    entry.failureCount += 1;
    const cancel = clock.timer(delayMs, () => {
      entry.retry = null;
      void inspectEntry(entry, false);
    });
    return { at: now + delayMs, cancel };
  }

  const findEntry = (server: ServerSnapshot) => entries.get(toEntryKey(server));

  return {
    update(servers) {
      if (isClosed) return;
      const next = new Map<string, InspectedServer>();
      for (const server of servers) {
        if (server.scope !== 'app') continue;
        const key = toEntryKey(server);
        next.set(key, entries.get(key) ?? createEntry(server));
      }
      const previous = entries;
      entries = next;
      for (const [key, entry] of previous) if (!next.has(key)) removeEntry(entry);
      for (const [key, entry] of next) if (!previous.has(key)) void inspectEntry(entry, false);
    },
    getState: (server) => findEntry(server)?.state ?? skippedState,
    async reinspect(server, signal) {
      const entry = findEntry(server);
      if (entry?.state.kind !== 'failed') {
        throw new GatewayError('MCP_INSPECTION_FAILED', {
          detail: 'Only a server whose inspection failed can be inspected again.',
        });
      }
      await rejectOnAbort(reinspectFailed(entry), signal);
      return entry.state;
    },
    close() {
      isClosed = true;
      for (const entry of entries.values()) removeEntry(entry);
      entries = new Map();
    },
  };
}

function toEntryKey({ tenant, id, revision }: ServerSnapshot): string {
  return JSON.stringify([tenant, id, revision]);
}

function createEntry(server: AppServer): InspectedServer {
  return {
    server,
    state: { kind: 'pending' },
    failureCount: 0,
    activeInspection: null,
    retry: null,
    removal: new AbortController(),
  };
}

function removeEntry(entry: InspectedServer): void {
  entry.retry?.cancel();
  entry.removal.abort(new DOMException('The server was removed', 'AbortError'));
}

function toErrorCode(error: unknown): ErrorCode {
  return error instanceof UpstreamError || error instanceof GatewayError ? error.code : 'INTERNAL';
}

/** Ends at the deadline even when the work does not heed its signal: its place is needed by others. */
async function withTimeout<T>(
  work: (signal: AbortSignal) => Promise<T>,
  removalSignal: AbortSignal,
  clock: Clock,
): Promise<T> {
  const timeout = new AbortController();
  const cancel = clock.timer(INSPECTION_TIMEOUT_MS, () => timeout.abort(new UpstreamError('timeout')));
  const signal = AbortSignal.any([removalSignal, timeout.signal]);
  try {
    return await rejectOnAbort(work(signal), signal);
  } finally {
    cancel();
  }
}

function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(abortReason(signal));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
