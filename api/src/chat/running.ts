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
import { LONGEST_ANSWER_MS } from './limits.ts';
import { Stopped, type StopReason } from './stopped.ts';

/** For how long a conversation belongs to a process that does not say otherwise any more. */
export const LEASE_MS = 30_000;
const KEEP_MS = 10_000;

type Owner = Pick<UserPrincipal, 'tenant' | 'userId'>;

/** With its owner in it: who guesses the id of somebody else's conversation cannot hold it. */
export function leaseKey({ tenant, userId }: Owner, conversationId: string): string {
  return JSON.stringify(['chat', tenant, userId, conversationId]);
}

export function stopKey({ tenant, userId }: Owner, conversationId: string): string {
  return JSON.stringify(['stop', tenant, userId, conversationId]);
}

/** One answer that is being written here. */
export interface Running {
  readonly owner: UserPrincipal;
  readonly conversationId: string | undefined;
  readonly signal: Cancellation;
  /** Resolves when it is over and kept. */
  readonly ended: Promise<void>;
  /** One answer at a time in a conversation, at all replicas: CHAT_BUSY. */
  take(conversationId: string): Promise<void>;
  stop(why: StopReason): void;
  /** Something about this conversation may have changed elsewhere. */
  look(): void;
  /** Told by `look`; returns how to stop listening. */
  readonly onNews: (listener: () => void) => () => void;
  end(): Promise<void>;
}

export interface RunningParts {
  readonly leases: Leases;
  readonly cache: Cache;
  readonly clock: Clock;
}

export function createRunning(
  { leases, cache, clock }: RunningParts,
  owner: UserPrincipal,
  { onEnd }: { onEnd: () => void },
): Running {
  const stopping = new LightCancellation();
  const listeners = new Set<() => void>();
  let conversationId: string | undefined;
  let lease: HeldLease | null = null;
  let cancelKeep: Cancel = () => undefined;
  let keptUntil = 0;
  let isOver = false;
  let finish: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (finish = resolve));

  const stop = (why: StopReason) => stopping.abort(new Stopped(why));
  const cancelAge = clock.timer(LONGEST_ANSWER_MS, () => stop('late'));

  async function acquire(id: string): Promise<boolean> {
    lease = await leases.acquire(leaseKey(owner, id), 'answer', LEASE_MS);
    keptUntil = clock.now() + LEASE_MS;
    return lease !== null;
  }

  async function keep(id: string): Promise<void> {
    try {
      // One that ran out while this process slept is taken anew, unless somebody else has it by now.
      if (await lease?.extend(LEASE_MS)) keptUntil = clock.now() + LEASE_MS;
      else if (!isOver && !(await acquire(id))) stop('lost');
      // It ended while this was waited for, and released the one before.
      if (isOver) await lease?.release();
      // A notice may have got lost.
      await checkStop(id);
    } catch {
      if (clock.now() >= keptUntil) stop('lost');
    }
    keepLater(id);
  }

  function keepLater(id: string): void {
    if (!isOver) cancelKeep = clock.timer(KEEP_MS, () => void keep(id));
  }

  async function checkStop(id: string): Promise<void> {
    const stopped = await cache.get(stopKey(owner, id));
    if (stopped !== undefined && stopped === lease?.owner) stop('asked');
  }

  return {
    owner,
    get conversationId() {
      return conversationId;
    },
    signal: stopping,
    ended,
    async take(id) {
      if (!(await acquire(id))) throw new GatewayError('CHAT_BUSY');
      conversationId = id;
      keepLater(id);
    },
    stop,
    look() {
      // What cannot be read now is looked at again with the next extension.
      if (conversationId !== undefined) checkStop(conversationId).catch(() => undefined);
      for (const listener of listeners) listener();
    },
    onNews(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async end() {
      if (isOver) return;
      isOver = true;
      cancelKeep();
      cancelAge();
      try {
        await lease?.release();
      } catch {
        // It lapses by itself.
      }
      onEnd();
      finish();
    },
  };
}
