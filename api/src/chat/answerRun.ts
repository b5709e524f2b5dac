import { GatewayError, type UserPrincipal } from '@behalf/gateway';
import type { Cache } from '@behalf/gateway/ports';
import {
  LightCancellation,
  type Cancel,
  type Cancellation,
  type Clock,
  type HeldLease,
  type Leases,
} from '@behalf/kernel';
import { MAX_ANSWER_MS } from './limits.ts';
import { AnswerStopped, type StopReason } from './answerStopped.ts';

/** For how long a conversation belongs to a process that does not say otherwise any more. */
export const ANSWER_LEASE_MS = 30_000;
const RENEW_INTERVAL_MS = 10_000;

type Owner = Pick<UserPrincipal, 'tenant' | 'userId'>;

/** With its owner in it: who guesses the id of somebody else's conversation cannot hold it. */
export function conversationLeaseKey({ tenant, userId }: Owner, conversationId: string): string {
  return JSON.stringify(['chat', tenant, userId, conversationId]);
}

export function stopRequestKey({ tenant, userId }: Owner, conversationId: string): string {
  return JSON.stringify(['stop', tenant, userId, conversationId]);
}

/** One answer that is being written here. */
export interface AnswerRun {
  readonly owner: UserPrincipal;
  readonly conversationId: string | undefined;
  readonly signal: Cancellation;
  /** Resolves when it is over and kept. */
  readonly ended: Promise<void>;
  /** One answer at a time in a conversation, at all replicas: CHAT_BUSY. */
  lockConversation(conversationId: string): Promise<void>;
  stop(reason: StopReason): void;
  /** Something about this conversation may have changed elsewhere. */
  checkStopped(): void;
  /** Told by `look`; returns how to stop listening. */
  readonly onChange: (listener: () => void) => () => void;
  end(): Promise<void>;
}

export interface AnswerRunParts {
  readonly leases: Leases;
  readonly cache: Cache;
  readonly clock: Clock;
}

export function createAnswerRun(
  { leases, cache, clock }: AnswerRunParts,
  owner: UserPrincipal,
  { onEnd }: { onEnd: () => void },
): AnswerRun {
  const cancellation = new LightCancellation();
  const listeners = new Set<() => void>();
  let conversationId: string | undefined;
  let lease: HeldLease | null = null;
  let cancelRenewal: Cancel = () => undefined;
  let leaseExpiresAt = 0;
  let hasEnded = false;
  let resolveEnded: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (resolveEnded = resolve));

  const stop = (reason: StopReason) => cancellation.abort(new AnswerStopped(reason));
  const cancelTimeout = clock.timer(MAX_ANSWER_MS, () => stop('timeout'));

  async function acquireLease(id: string): Promise<boolean> {
    lease = await leases.acquire(conversationLeaseKey(owner, id), 'answer', ANSWER_LEASE_MS);
    leaseExpiresAt = clock.now() + ANSWER_LEASE_MS;
    return lease !== null;
  }

  async function renewLease(id: string): Promise<void> {
    try {
      // One that ran out while this process slept is taken anew, unless somebody else has it by now.
      if (await lease?.extend(ANSWER_LEASE_MS)) leaseExpiresAt = clock.now() + ANSWER_LEASE_MS;
      else if (!hasEnded && !(await acquireLease(id))) stop('lease_lost');
      // It ended while this was waited for, and released the one before.
      if (hasEnded) await lease?.release();
      // A notice may have got lost.
      await readStopRequest(id);
    } catch {
      if (clock.now() >= leaseExpiresAt) stop('lease_lost');
    }
    scheduleRenewal(id);
  }

  function scheduleRenewal(id: string): void {
    if (!hasEnded) cancelRenewal = clock.timer(RENEW_INTERVAL_MS, () => void renewLease(id));
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
    signal: cancellation,
    ended,
    async lockConversation(id) {
      if (!(await acquireLease(id))) throw new GatewayError('CHAT_BUSY');
      conversationId = id;
      scheduleRenewal(id);
    },
    stop,
    checkStopped() {
      // What cannot be read now is looked at again with the next extension.
      if (conversationId !== undefined) readStopRequest(conversationId).catch(() => undefined);
      for (const listener of listeners) listener();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async end() {
      if (hasEnded) return;
      hasEnded = true;
      cancelRenewal();
      cancelTimeout();
      try {
        await lease?.release();
      } catch {
        // It lapses by itself.
      }
      onEnd();
      resolveEnded();
    },
  };
}
