import type { ErrorCode } from '@behalf/contracts';
import { abortReason, type Cancel, type Clock, type Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Log } from '../upstream/parts.ts';
import type { ServerClaims } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { AppServer, ServerSnapshot } from './server.ts';

/** What a look at a server found. */
export interface Inspected {
  readonly claims: ServerClaims;
  /** How many it offers. */
  readonly tools: number;
}

export type InspectionState =
  /** Never looked at: it needs a user, or its definition says so. */
  | { readonly kind: 'skipped' }
  | { readonly kind: 'pending' }
  | {
      readonly kind: 'ok';
      readonly claims: ServerClaims;
      readonly tools: number;
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
export interface Look {
  readonly signal: AbortSignal;
  /** Somebody asked for this very look: it passes an open breaker. */
  readonly explicit: boolean;
}

export interface InspectionParts {
  readonly inspect: (server: AppServer, look: Look) => Promise<Inspected>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Looks at every shared server once, and again while it fails. Nobody waits for it. */
export interface Inspection {
  /** The servers there are now: new ones are looked at, the others forgotten. */
  update(servers: readonly ServerSnapshot[]): void;
  stateOf(server: ServerSnapshot): InspectionState;
  /**
   * Now, for who asks explicitly, past an open breaker; the next look in the background is not put off by it. Refused
   * for a server that works, and for one nobody knows.
   */
  reinspect(server: ServerSnapshot, signal?: AbortSignal): Promise<InspectionState>;
  close(): void;
}

const AT_ONCE = 8;
const DEADLINE_MS = 30_000;
const FIRST_RETRY_MS = 30_000;
const LAST_RETRY_MS = 300_000;
/** An administrator's override that fails is not tried again sooner: its base serves meanwhile. */
const OVERRIDE_RETRY_MS = 300_000;

interface Retry {
  readonly at: number;
  readonly cancel: Cancel;
}

interface Watched {
  readonly server: AppServer;
  state: InspectionState;
  failures: number;
  /** The look in progress or in the queue. */
  running: { readonly explicit: boolean; readonly done: Promise<void> } | null;
  /** The next look in the background. */
  retry: Retry | null;
  readonly gone: AbortController;
}

const skipped: InspectionState = { kind: 'skipped' };

export function createInspection({ inspect, clock, random, log }: InspectionParts): Inspection {
  let watched = new Map<string, Watched>();
  const queue: (() => void)[] = [];
  let running = 0;
  let closed = false;

  /** One of a few places; whoever leaves hands it on. */
  async function inTurn(work: () => Promise<void>): Promise<void> {
    if (running >= AT_ONCE) await new Promise<void>((turn) => queue.push(turn));
    else running += 1;
    try {
      await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  }

  function look(entry: Watched, explicit: boolean): Promise<void> {
    entry.running ??= {
      explicit,
      done: inTurn(() => lookNow(entry, explicit)).finally(() => {
        entry.running = null;
      }),
    };
    return entry.running.done;
  }

  async function lookOnRequest(entry: Watched): Promise<void> {
    // One in the background may have ended at an open breaker.
    if (entry.running?.explicit === false) await entry.running.done;
    if (entry.state.kind === 'failed') await look(entry, true);
  }

  async function lookNow(entry: Watched, explicit: boolean): Promise<void> {
    const { server, gone } = entry;
    const isGone = () => gone.signal.aborted;
    if (isGone()) return;
    const begun = clock.now();
    try {
      const { claims, tools } = await withDeadline(
        (signal) => inspect(server, { signal, explicit }),
        gone.signal,
        clock,
      );
      entry.retry?.cancel();
      entry.retry = null;
      entry.failures = 0;
      entry.state = Object.freeze({ kind: 'ok', claims, tools, durationMs: clock.now() - begun });
    } catch (error) {
      if (isGone()) return;
      fail(entry, codeOf(error));
    }
  }

  function fail(entry: Watched, code: ErrorCode): void {
    const { server, state } = entry;
    const now = clock.now();
    const since = state.kind === 'failed' ? state.since : now;
    // If one is still to come, somebody asked in between: one user's retries do not put it off for the others.
    entry.retry ??= scheduleRetry(entry, now);
    const { at } = entry.retry;
    entry.state = Object.freeze({ kind: 'failed', code, since, retryAt: at });
    log('server_inspection_failed', { server: server.name, code, retryInMs: at - now });
  }

  function scheduleRetry(entry: Watched, now: number): Retry {
    const doubled = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(entry.failures, 10));
    // Between three quarters and the whole: servers that failed together do not come back together.
    const wait =
      entry.server.source === 'config'
        ? OVERRIDE_RETRY_MS
        : Math.round(doubled * (0.75 + random.uniform() / 4));
    entry.failures += 1;
    const cancel = clock.timer(wait, () => {
      entry.retry = null;
      void look(entry, false);
    });
    return { at: now + wait, cancel };
  }

  const find = (server: ServerSnapshot) => watched.get(keyOf(server));

  return {
    update(servers) {
      if (closed) return;
      const next = new Map<string, Watched>();
      for (const server of servers) {
        if (server.scope !== 'app') continue;
        const key = keyOf(server);
        next.set(key, watched.get(key) ?? newlyWatched(server));
      }
      const before = watched;
      watched = next;
      for (const [key, entry] of before) if (!next.has(key)) forget(entry);
      for (const [key, entry] of next) if (!before.has(key)) void look(entry, false);
    },
    stateOf: (server) => find(server)?.state ?? skipped,
    async reinspect(server, signal) {
      const entry = find(server);
      if (entry?.state.kind !== 'failed') {
        throw new GatewayError('MCP_INSPECTION_FAILED', {
          detail: 'Only a server whose inspection failed can be inspected again.',
        });
      }
      await orAborted(lookOnRequest(entry), signal);
      return entry.state;
    },
    close() {
      closed = true;
      for (const entry of watched.values()) forget(entry);
      watched = new Map();
    },
  };
}

function keyOf({ tenant, id, revision }: ServerSnapshot): string {
  return JSON.stringify([tenant, id, revision]);
}

function newlyWatched(server: AppServer): Watched {
  return {
    server,
    state: { kind: 'pending' },
    failures: 0,
    running: null,
    retry: null,
    gone: new AbortController(),
  };
}

function forget(entry: Watched): void {
  entry.retry?.cancel();
  entry.gone.abort(new DOMException('The server is gone', 'AbortError'));
}

function codeOf(error: unknown): ErrorCode {
  return error instanceof UpstreamError || error instanceof GatewayError ? error.code : 'INTERNAL';
}

/** Ends at the deadline even when the work does not heed its signal: its place is needed by others. */
async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  outer: AbortSignal,
  clock: Clock,
): Promise<T> {
  const late = new AbortController();
  const cancel = clock.timer(DEADLINE_MS, () => late.abort(new UpstreamError('timeout')));
  const signal = AbortSignal.any([outer, late.signal]);
  try {
    return await orAborted(work(signal), signal);
  } finally {
    cancel();
  }
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(abortReason(signal));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
