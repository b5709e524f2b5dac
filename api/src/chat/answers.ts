import { GatewayError, type UserPrincipal } from '@behalf/gateway';
import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import type { Cancellation, Clock, Leases } from '@behalf/kernel';
import { MOST_ANSWERS, MOST_ANSWERS_OF_A_USER } from './limits.ts';
import { createRunning, LEASE_MS, leaseKey, stopKey, type Running } from './running.ts';

export interface AnswerLimits {
  readonly ofAUser: number;
  readonly inAll: number;
}

export interface AnswersParts {
  readonly leases: Leases;
  readonly cache: Cache;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly limits?: AnswerLimits;
}

/** The answers that are being written here, and who else writes one. */
export interface Answers {
  /** A place for one more; throws when there is none. Given back with `end`. */
  enter(owner: UserPrincipal, leaving: Cancellation): Running;
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

export function createAnswers(parts: AnswersParts): Answers {
  const { leases, cache, changes, clock } = parts;
  const { ofAUser, inAll } = parts.limits ?? { ofAUser: MOST_ANSWERS_OF_A_USER, inAll: MOST_ANSWERS };
  const running = new Set<Running>();
  let isDraining = false;

  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'conversations') return;
    for (const answer of running) if (id === '*' || id === answer.conversationId) answer.look();
  });

  function checkRoom({ tenant, userId }: UserPrincipal): void {
    if (isDraining) throw new GatewayError('SHUTTING_DOWN');
    let own = 0;
    for (const { owner } of running) if (owner.userId === userId && owner.tenant === tenant) own += 1;
    if (own < ofAUser && running.size < inAll) return;
    throw new GatewayError('RATE_LIMITED', {
      detail:
        own >= ofAUser
          ? `${own} answers are being written for you. Wait for one of them, or stop one.`
          : 'Too many answers are being written here. Try again in a moment.',
      retryAfterMs: 5_000,
    });
  }

  function stopAll(): void {
    for (const answer of running) answer.stop('shutdown');
  }

  return {
    enter(owner, leaving) {
      checkRoom(owner);
      const answer = createRunning({ leases, cache, clock }, owner, {
        onEnd: () => void running.delete(answer),
      });
      running.add(answer);
      const leave = () => answer.stop('left');
      if (leaving.aborted) leave();
      else leaving.addEventListener('abort', leave);
      return answer;
    },
    isRunning: async (owner, id) => (await leases.holder(leaseKey(owner, id))) !== null,
    async stop(owner, id) {
      const holder = await leases.holder(leaseKey(owner, id));
      if (!holder) return false;
      // Names the very answer: the next one in this conversation is not stopped by it.
      await cache.set(stopKey(owner, id), holder.owner, LEASE_MS);
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
      await Promise.all([...running].map((answer) => answer.ended));
    },
  };
}
