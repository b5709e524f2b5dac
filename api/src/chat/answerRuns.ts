import { GatewayError, type UserPrincipal } from '@behalf/gateway';
import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import type { Cancellation, Clock, Leases } from '@behalf/kernel';
import { MAX_ANSWERS, MAX_ANSWERS_PER_USER } from './limits.ts';
import {
  createAnswerRun,
  ANSWER_LEASE_MS,
  conversationLeaseKey,
  stopRequestKey,
  type AnswerRun,
} from './answerRun.ts';

export interface AnswerRunLimits {
  readonly maxPerUser: number;
  readonly maxTotal: number;
}

export interface AnswerRunsParts {
  readonly leases: Leases;
  readonly cache: Cache;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly limits?: AnswerRunLimits;
}

/** The answers that are being written here, and who else writes one. */
export interface AnswerRuns {
  /** A place for one more; throws when there is none. Given back with `end`. */
  start(owner: UserPrincipal, disconnect: Cancellation): AnswerRun;
  /** Whether an answer is being written in this conversation, here or at another replica. */
  isRunning(owner: UserPrincipal, conversationId: string): Promise<boolean>;
  /** Ends it wherever it runs. False when none does. */
  stop(owner: UserPrincipal, conversationId: string): Promise<boolean>;
  /** Takes none any more; those that run have a moment to end by themselves. */
  drain(): void;
  /** Ends them, and waits until what was said is kept. */
  close(): Promise<void>;
}

const DRAIN_MS = 3_000;

export function createAnswerRuns(parts: AnswerRunsParts): AnswerRuns {
  const { leases, cache, changes, clock } = parts;
  const { maxPerUser, maxTotal } = parts.limits ?? {
    maxPerUser: MAX_ANSWERS_PER_USER,
    maxTotal: MAX_ANSWERS,
  };
  const runs = new Set<AnswerRun>();
  let isDraining = false;

  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'conversations') return;
    for (const run of runs) if (id === '*' || id === run.conversationId) run.checkStopped();
  });

  function requireCapacity({ tenant, userId }: UserPrincipal): void {
    if (isDraining) throw new GatewayError('SHUTTING_DOWN');
    let userRuns = 0;
    for (const { owner } of runs) if (owner.userId === userId && owner.tenant === tenant) userRuns += 1;
    if (userRuns < maxPerUser && runs.size < maxTotal) return;
    throw new GatewayError('RATE_LIMITED', {
      detail:
        userRuns >= maxPerUser
          ? `${userRuns} answers are being written for you. Wait for one of them to finish, or stop one.`
          : 'Too many answers are being written here. Try again in a moment.',
      retryAfterMs: 5_000,
    });
  }

  function stopAll(): void {
    for (const run of runs) run.stop('shutdown');
  }

  return {
    start(owner, disconnect) {
      requireCapacity(owner);
      const run = createAnswerRun({ leases, cache, clock }, owner, {
        onEnd: () => void runs.delete(run),
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
      // Names the very answer: the next one in this conversation is not stopped by it.
      await cache.set(stopRequestKey(owner, id), holder.owner, ANSWER_LEASE_MS);
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
