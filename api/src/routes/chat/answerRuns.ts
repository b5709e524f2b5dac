import {
  type ActiveLease,
  GatewayError,
  type LeaseParts,
  type UserPrincipal,
  acquireLease,
  principalKey,
} from '@behalf/gateway';
import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import { type Cancellation, LightCancellation } from '@behalf/kernel';
import { type QuotaLimits, createUserQuota } from '../../http/userQuota.ts';
import { MAX_ANSWERS, MAX_ANSWERS_PER_USER, MAX_ANSWER_MS } from './limits.ts';

interface AnswerRunsParts extends LeaseParts {
  readonly cache: Cache;
  readonly changes: ChangeFeed;
  readonly limits?: QuotaLimits;
}

/** The answers in progress: those of this replica, and requests to stop an answer at any replica. */
export interface AnswerRuns {
  /** Throws if this replica has too many answers in progress. The caller must call `end`. */
  start(owner: UserPrincipal, disconnect: Cancellation): AnswerRun;
  /** Whether an answer in this conversation is in progress at any replica. */
  isRunning(owner: UserPrincipal, conversationId: string): Promise<boolean>;
  /** Stops the answer at any replica. Returns false if none is in progress. */
  stop(owner: UserPrincipal, conversationId: string): Promise<boolean>;
  /** Refuses new answers. Answers in progress have three seconds to complete. */
  drain(): void;
  /** Stops all answers of this replica and waits until their messages are stored. */
  close(): Promise<void>;
}

const DRAIN_MS = 3_000;

export function createAnswerRuns(parts: AnswerRunsParts): AnswerRuns {
  const { leases, cache, changes, clock } = parts;
  const quota = createUserQuota(parts.limits ?? { maxPerUser: MAX_ANSWERS_PER_USER, maxTotal: MAX_ANSWERS });
  const runs = new Set<AnswerRun>();
  let isDraining = false;

  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'conversations') return;
    for (const run of runs) if (id === '*' || id === run.conversationId) run.checkStopped();
  });

  function requireCapacity(user: string): void {
    if (isDraining) throw new GatewayError('SHUTTING_DOWN');
    const exceeded = quota.exceeded(user);
    if (!exceeded) return;
    throw new GatewayError('RATE_LIMITED', {
      detail:
        exceeded === 'user'
          ? `${quota.used(user)} answers are being written for you. Wait for one of them to finish, or stop one.`
          : 'Too many answers are being written here. Try again in a moment.',
      retryAfterMs: 5_000,
    });
  }

  function stopAll(): void {
    for (const run of runs) run.stop('shutdown');
  }

  return {
    start(owner, disconnect) {
      const user = principalKey(owner);
      requireCapacity(user);
      quota.add(user);
      const run = createAnswerRun(parts, owner, () => {
        runs.delete(run);
        quota.add(user, -1);
      });
      runs.add(run);
      const stopOnDisconnect = () => run.stop('disconnected');
      if (disconnect.aborted) stopOnDisconnect();
      else disconnect.addEventListener('abort', stopOnDisconnect);
      return run;
    },
    isRunning: async (owner, id) => (await leases.findHolder(conversationLeaseKey(owner, id))) !== null,
    async stop(owner, id) {
      const holder = await leases.findHolder(conversationLeaseKey(owner, id));
      if (!holder) return false;
      // Names the lease of this answer, so that the request does not stop the next answer of the conversation.
      await cache.set(stopRequestKey(owner, id), holder.owner, LEASE_TTL_MS);
      await changes.publish({ topic: 'conversations', id });
      return true;
    },
    drain() {
      isDraining = true;
      clock.timer(DRAIN_MS, stopAll);
    },
    async close() {
      isDraining = true;
      unsubscribe();
      stopAll();
      await Promise.all([...runs].map((run) => run.ended));
    },
  };
}

const LEASE_TTL_MS = 30_000;
const HEARTBEAT_MS = 10_000;

/** Contains the owner: knowing the id of another user's conversation is not enough to lock it. */
export function conversationLeaseKey({ tenant, userId }: UserPrincipal, conversationId: string): string {
  return JSON.stringify(['chat', tenant, userId, conversationId]);
}

function stopRequestKey({ tenant, userId }: UserPrincipal, conversationId: string): string {
  return JSON.stringify(['stop', tenant, userId, conversationId]);
}

export type AnswerRun = ReturnType<typeof createAnswerRun>;

/** One answer in progress at this replica. */
function createAnswerRun(parts: AnswerRunsParts, owner: UserPrincipal, onEnd: () => void) {
  const { cache, clock } = parts;
  const cancellation = new LightCancellation();
  const listeners = new Set<() => void>();
  let conversationId: string | undefined;
  let lease: ActiveLease | null = null;
  let hasEnded = false;
  let resolveEnded: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (resolveEnded = resolve));

  const stop = (reason: StopReason) => cancellation.abort(new AnswerStopped(reason));
  const cancelTimeout = clock.timer(MAX_ANSWER_MS, () => stop('timeout'));

  async function acquire(id: string): Promise<boolean> {
    lease = await acquireLease(parts, {
      ...{ key: conversationLeaseKey(owner, id), purpose: 'answer', ttlMs: LEASE_TTL_MS },
      heartbeat: {
        intervalMs: HEARTBEAT_MS,
        // The change notification of a stop request may be lost.
        onBeat: () => readStopRequest(id),
        onLost: () => void reacquire(id),
      },
    });
    // The run may have ended in the meantime, after it released the previous lease.
    if (hasEnded) await lease?.release();
    return lease !== null;
  }

  /** The lease may have expired because the process was suspended. Continue unless another replica holds it now. */
  async function reacquire(id: string): Promise<void> {
    const isAcquired = hasEnded || (await acquire(id).catch(() => false));
    if (!isAcquired) stop('lease_lost');
  }

  async function readStopRequest(id: string): Promise<void> {
    const stopRequest = await cache.get(stopRequestKey(owner, id));
    if (stopRequest !== undefined && stopRequest === lease?.owner) stop('requested');
  }

  return {
    owner,
    get conversationId() {
      return conversationId;
    },
    signal: cancellation as Cancellation,
    /** Resolves after the answer ended and its message is stored. */
    ended,
    /** Allows one answer per conversation, at all replicas. Throws CHAT_BUSY if another one is in progress. */
    async lockConversation(id: string): Promise<void> {
      if (!(await acquire(id))) throw new GatewayError('CHAT_BUSY');
      conversationId = id;
    },
    stop,
    /** Called when another replica may have changed the conversation. */
    checkStopped(): void {
      // If the read fails, the next heartbeat repeats it.
      if (conversationId !== undefined) readStopRequest(conversationId).catch(() => undefined);
      for (const listener of listeners) listener();
    },
    /** Calls the listener from `checkStopped`. Returns a function that unsubscribes. */
    onChange: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async end(): Promise<void> {
      if (hasEnded) return;
      hasEnded = true;
      cancelTimeout();
      await lease?.release();
      onEnd();
      resolveEnded();
    },
  };
}

/** `lease_lost`: another replica may be writing an answer in the same conversation. */
type StopReason = 'requested' | 'disconnected' | 'timeout' | 'shutdown' | 'lease_lost';

/** The abort reason of an answer that was stopped before it was complete. */
export class AnswerStopped extends Error {
  override readonly name = 'AbortError';
  readonly reason: StopReason;
  constructor(reason: StopReason) {
    super('The answer was stopped');
    this.reason = reason;
  }
}
