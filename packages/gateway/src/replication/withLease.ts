import {
  type Cancel,
  type Clock,
  type HeldLease,
  type LeasePurpose,
  type Leases,
  sleep,
  withTimeout,
} from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';

/**
 * Leases limit contention between replicas: at most one replica holds a key until the TTL passes. A lease is not a
 * fence. If work must never happen twice, a compare-and-set in the record guarantees that, not the lease.
 */
export interface LeaseParts {
  readonly leases: Leases;
  readonly clock: Clock;
}

export interface LeaseRequest {
  readonly key: string;
  readonly purpose: LeasePurpose;
  readonly ttlMs: number;
  /** Limits each request to the lease store. By default, the store's own timeout applies. */
  readonly requestTimeoutMs?: number;
  /** Extends the lease at this interval until it is released. By default, the lease is not extended. */
  readonly heartbeat?: Heartbeat;
}

export interface Heartbeat {
  readonly intervalMs: number;
  /** Stops extending after this time, so that work that hangs cannot hold the lease forever. */
  readonly maxHoldMs?: number;
  /** Runs with each heartbeat, for example to read whether the work was cancelled. If it rejects, only the lease counts. */
  readonly onBeat?: () => Promise<void>;
  /** The lease expired or another replica holds it: the holder must stop. Called at most once. */
  readonly onLost?: () => void;
}

/** A lease that this process holds. */
export interface ActiveLease {
  /** The random token that identifies this holder. */
  readonly owner: string;
  /** Extends the lease. False if another replica may hold it by now. */
  extend(): Promise<boolean>;
  /** Stops the heartbeat and releases the lease. Never rejects: an unreleased lease expires by itself. */
  release(): Promise<void>;
}

/** Tries once to acquire a lease. Null: another holder has it. Rejects if the lease store does not answer. */
export async function acquireLease(
  { leases, clock }: LeaseParts,
  { key, purpose, ttlMs, requestTimeoutMs, heartbeat }: LeaseRequest,
): Promise<ActiveLease | null> {
  const limitTime = <T>(request: Promise<T>, onTimeout: () => T): Promise<T> =>
    requestTimeoutMs === undefined ? request : withTimeout(clock, requestTimeoutMs, request, onTimeout);
  const acquiring = (async () => leases.acquire(key, purpose, ttlMs))();
  const lease = await limitTime(acquiring, () => {
    // Release a lease that arrives after the timeout: no caller uses it.
    acquiring.then((late) => late?.release()).catch(() => undefined);
    throw new Error('the request timed out');
  });
  if (!lease) return null;
  const stopHeartbeat = heartbeat ? startHeartbeat(clock, lease, ttlMs, heartbeat) : () => undefined;
  let released: Promise<void> | undefined;
  return {
    owner: lease.owner,
    extend: () => lease.extend(ttlMs),
    release: () =>
      (released ??= (async () => {
        stopHeartbeat();
        await limitTime(
          lease.release().catch(() => false),
          () => false,
        );
      })()),
  };
}

function startHeartbeat(
  clock: Clock,
  lease: HeldLease,
  ttlMs: number,
  { intervalMs, maxHoldMs = Infinity, onBeat, onLost }: Heartbeat,
): Cancel {
  const holdUntil = clock.now() + maxHoldMs;
  let expiresAt = clock.now() + ttlMs;
  let isStopped = false;
  // A function, because TypeScript does not see that the variable changes during an await.
  const hasStopped = () => isStopped;

  async function beat(): Promise<void> {
    if (isStopped || clock.now() >= holdUntil) return;
    try {
      const extendedAt = clock.now();
      // Limited in time, so that a request that hangs does not stop the heartbeat.
      const isExtended = await withTimeout(clock, intervalMs, lease.extend(ttlMs), () => {
        throw new Error('the request timed out');
      });
      expiresAt = isExtended ? extendedAt + ttlMs : -Infinity;
      await onBeat?.();
    } catch {
      // The store did not answer. The lease holds until it expires; the next heartbeat tries again.
    }
    if (hasStopped()) return;
    if (clock.now() >= expiresAt) {
      stop();
      onLost?.();
    } else cancel = clock.timer(intervalMs, () => void beat());
  }

  function stop(): void {
    isStopped = true;
    cancel();
  }

  let cancel = clock.timer(intervalMs, () => void beat());
  return stop;
}

export interface WithLeaseOptions<T> extends LeaseRequest {
  /** How long to wait for another holder before `onBusy` applies. */
  readonly waitMs: number;
  /**
   * Looks for the result of another holder: after each wait, and again after acquiring the lease. The work runs
   * only if this finds nothing.
   */
  readonly findResult?: () => Promise<T | undefined>;
  /** Waits before attempt `attempt` (0, 1, ...) is repeated. Default: 50 ms. */
  readonly wait?: (attempt: number) => Promise<void>;
  /** After `waitMs`: `run` does the work without the lease, a function creates the error to throw. Default: STORE_UNAVAILABLE. */
  readonly onBusy?: 'run' | (() => Error);
  /** The lease store does not answer: `undefined` does the work without the lease; rethrow to fail. Default: fail. */
  readonly onUnavailable?: (error: unknown) => Promise<void>;
}

/** Passed to work that runs under a lease. */
export interface LeaseGuard {
  /** Call right before a write. Throws if the work took so long that another replica may hold the lease. */
  readonly assertHeld: () => Promise<void>;
}

const RETRY_INTERVAL_MS = 50;

/** Acquires the lease (waiting for another holder if necessary), runs the work and releases the lease. */
export async function withLease<T>(
  parts: LeaseParts,
  options: WithLeaseOptions<T>,
  work: (guard: LeaseGuard) => Promise<T>,
): Promise<T> {
  const { clock } = parts;
  const { waitMs, findResult = async () => undefined, onBusy = createBusyError, onUnavailable } = options;
  const { wait = () => sleep(clock, RETRY_INTERVAL_MS) } = options;
  const deadline = clock.now() + waitMs;
  for (let attempt = 0; ; attempt += 1) {
    let lease: ActiveLease | null;
    try {
      lease = await acquireLease(parts, options);
    } catch (error) {
      if (!onUnavailable) throw error;
      await onUnavailable(error);
      return (await findResult()) ?? work(unguarded);
    }
    if (lease) return await runAndRelease(lease, findResult, work);
    if (clock.now() >= deadline) {
      if (onBusy === 'run') return work(unguarded);
      throw onBusy();
    }
    await wait(attempt);
    const found = await findResult();
    if (found !== undefined) return found;
  }
}

async function runAndRelease<T>(
  lease: ActiveLease,
  findResult: () => Promise<T | undefined>,
  work: (guard: LeaseGuard) => Promise<T>,
): Promise<T> {
  const assertHeld = async () => {
    if (!(await lease.extend())) throw createBusyError();
  };
  try {
    // The previous holder may have finished between the last look and the acquisition.
    return (await findResult()) ?? (await work({ assertHeld }));
  } finally {
    await lease.release();
  }
}

/** For work that runs without the lease by the caller's choice. */
const unguarded: LeaseGuard = { assertHeld: async () => undefined };

function createBusyError(): GatewayError {
  return new GatewayError('STORE_UNAVAILABLE', {
    detail: 'Another change of this kind is in progress. Try again.',
    retryAfterMs: 1_000,
  });
}

/** Serializes a change of configuration across replicas. `assertHeld` must be called right before each write. */
export function withMaintenanceLease<T>(
  parts: LeaseParts,
  key: readonly [subject: string, ...parts: string[]],
  work: (assertHeld: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const request = { key: JSON.stringify(key), purpose: 'maintenance', ttlMs: 10_000, waitMs: 5_000 } as const;
  return withLease<T>(parts, request, ({ assertHeld }) => work(assertHeld));
}

/** The lease under which the roles of a tenant, and the assignment of roles to users, change. */
export function roleLeaseKey(tenant: string): [string, string] {
  return ['admins', tenant];
}
