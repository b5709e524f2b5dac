import type { ErrorCode } from '@behalf/contracts';
import { type Cancel, type Clock, type Random, Semaphore, rejectOnAbort } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Log, ServerClaims } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { type AppServer, type ServerSnapshot, isSignInChallenge } from '../definitions/definition.ts';

/** The result of a successful inspection. */
export interface InspectionResult {
  readonly claims: ServerClaims;
  readonly toolCount: number;
}

export type InspectionState =
  /** The server is not inspected, because it needs a user or its definition disables it. */
  | { readonly kind: 'skipped' }
  | { readonly kind: 'pending' }
  | ({ readonly kind: 'ok'; readonly durationMs: number } & InspectionResult)
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode;
      /** The time of the first of the consecutive failures. */
      readonly since: number;
      readonly retryAt: number;
    };

export interface InspectionOptions {
  readonly signal: AbortSignal;
  /** A user requested the inspection, so it ignores an open circuit breaker. */
  readonly bypassesBreaker: boolean;
}

/** Inspects every shared server in the background: once, and again with backoff while the inspection fails. */
export interface InspectionScheduler {
  /** Sets the current servers. New ones are inspected, missing ones are dropped. */
  update(servers: readonly ServerSnapshot[]): void;
  getState(server: ServerSnapshot): InspectionState;
  /**
   * Inspects a failed server immediately, even if its circuit breaker is open. Does not delay the next background
   * inspection. Throws MCP_INSPECTION_FAILED if the last inspection of the server did not fail.
   */
  reinspect(server: ServerSnapshot, signal?: AbortSignal): Promise<InspectionState>;
  close(): void;
}

const MAX_CONCURRENT_INSPECTIONS = 8;
const INSPECTION_TIMEOUT_MS = 30_000;
const INITIAL_RETRY_MS = 30_000;
const MAX_RETRY_MS = 300_000;
/** The base server serves while an override fails, so a retry is not urgent. */
const OVERRIDE_RETRY_MS = 300_000;

interface InspectedServer {
  readonly server: AppServer;
  state: InspectionState;
  failureCount: number;
  /** The running or queued inspection. */
  activeInspection: { readonly bypassesBreaker: boolean; readonly done: Promise<void> } | null;
  /** The next background inspection. */
  retry: { readonly at: number; readonly cancel: Cancel } | null;
  readonly removal: AbortController;
}

export function createInspectionScheduler({
  inspect,
  onSignInRequired,
  clock,
  random,
  log,
}: {
  readonly inspect: (server: AppServer, options: InspectionOptions) => Promise<InspectionResult>;
  /** A server of the file answered with a sign-in challenge, although its definition does not mention one. */
  readonly onSignInRequired: (name: string) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}): InspectionScheduler {
  let entries = new Map<string, InspectedServer>();
  const semaphore = new Semaphore(MAX_CONCURRENT_INSPECTIONS);
  let isClosed = false;

  function inspectEntry(entry: InspectedServer, bypassesBreaker: boolean): Promise<void> {
    entry.activeInspection ??= {
      bypassesBreaker,
      done: semaphore
        .run(() => runInspection(entry, bypassesBreaker))
        .finally(() => {
          entry.activeInspection = null;
        }),
    };
    return entry.activeInspection.done;
  }

  async function reinspectFailed(entry: InspectedServer): Promise<void> {
    // A background inspection may fail only because the circuit breaker is open.
    if (entry.activeInspection?.bypassesBreaker === false) await entry.activeInspection.done;
    if (entry.state.kind === 'failed') await inspectEntry(entry, true);
  }

  async function runInspection(entry: InspectedServer, bypassesBreaker: boolean): Promise<void> {
    const { server, removal } = entry;
    const isRemoved = () => removal.signal.aborted;
    if (isRemoved()) return;
    const startedAt = clock.now();
    const timeout = new AbortController();
    const cancel = clock.timer(INSPECTION_TIMEOUT_MS, () => timeout.abort(new UpstreamError('timeout')));
    const signal = AbortSignal.any([removal.signal, timeout.signal]);
    try {
      // Ends at the deadline even if `inspect` ignores the signal, so that the permit is released.
      const { claims, toolCount } = await rejectOnAbort(inspect(server, { signal, bypassesBreaker }), signal);
      entry.retry?.cancel();
      entry.retry = null;
      entry.failureCount = 0;
      entry.state = Object.freeze({ kind: 'ok', claims, toolCount, durationMs: clock.now() - startedAt });
    } catch (error) {
      if (isSignInChallenge(server, error)) onSignInRequired(server.name);
      if (isRemoved()) return;
      const isKnown = error instanceof UpstreamError || error instanceof GatewayError;
      recordFailure(entry, isKnown ? error.code : 'INTERNAL');
    } finally {
      cancel();
    }
  }

  function recordFailure(entry: InspectedServer, code: ErrorCode): void {
    const { server, state } = entry;
    const now = clock.now();
    const since = state.kind === 'failed' ? state.since : now;
    // After a requested inspection the retry is still scheduled: a user must not delay it for other users.
    entry.retry ??= scheduleRetry(entry, now);
    const { at } = entry.retry;
    entry.state = Object.freeze({ kind: 'failed', code, since, retryAt: at });
    log('server_inspection_failed', { server: server.name, code, retryInMs: at - now });
  }

  function scheduleRetry(entry: InspectedServer, now: number): NonNullable<InspectedServer['retry']> {
    const backoffMs = Math.min(MAX_RETRY_MS, INITIAL_RETRY_MS * 2 ** Math.min(entry.failureCount, 10));
    // Jitter between 75 % and 100 %: servers that failed at the same time are not retried at the same time.
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
    getState: (server) => findEntry(server)?.state ?? { kind: 'skipped' },
    async reinspect(server, signal) {
      const entry = findEntry(server);
      if (entry?.state.kind !== 'failed') {
        throw new GatewayError('MCP_INSPECTION_FAILED', {
          detail: 'Only a server whose inspection failed can be inspected again.',
        });
      }
      const work = reinspectFailed(entry);
      await (signal ? rejectOnAbort(work, signal) : work);
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
