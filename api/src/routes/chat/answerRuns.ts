import type { ChatEvent, ChatEventName } from '@behalf/contracts';
import { GatewayError, type UserPrincipal } from '@behalf/gateway';
import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import {
  type Cancel,
  type Cancellation,
  type Clock,
  type HeldLease,
  type Leases,
  LightCancellation,
} from '@behalf/kernel';
import type { EventStream } from '../../http/sse.ts';
import { MAX_ANSWERS, MAX_ANSWERS_PER_USER, MAX_ANSWER_MS } from './limits.ts';

interface AnswerRunLimits {
  readonly maxPerUser: number;
  readonly maxTotal: number;
}

interface AnswerRunsParts {
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

/** For how long a conversation belongs to a process that does not say otherwise any more. */
const ANSWER_LEASE_MS = 30_000;
const RENEW_INTERVAL_MS = 10_000;

type Owner = Pick<UserPrincipal, 'tenant' | 'userId'>;

/** With its owner in it: who guesses the id of somebody else's conversation cannot hold it. */
export function conversationLeaseKey({ tenant, userId }: Owner, conversationId: string): string {
  return JSON.stringify(['chat', tenant, userId, conversationId]);
}

function stopRequestKey({ tenant, userId }: Owner, conversationId: string): string {
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

interface AnswerRunParts {
  readonly leases: Leases;
  readonly cache: Cache;
  readonly clock: Clock;
}

function createAnswerRun(
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

/**
 * `asked`: by its user. `left`: nobody reads it any more. `late`: it took too long. `shutdown`: the process ends. `lost`:
 * another replica may be writing an answer in the same conversation.
 */
type StopReason = 'requested' | 'disconnected' | 'timeout' | 'shutdown' | 'lease_lost';

/** Why an answer ended before it was finished: the reason of its signal. */
export class AnswerStopped extends Error {
  override readonly name = 'AbortError';
  readonly reason: StopReason;
  constructor(reason: StopReason) {
    super('The answer was stopped');
    this.reason = reason;
  }
}

type DataOf<N extends ChatEventName> = Extract<ChatEvent, { event: N }>['data'];

/** Tells the reader of an answer what happens. Settles when there is room for more; never rejects. */
export interface ChatEventWriter {
  <N extends ChatEventName>(event: N, data: DataOf<N>): Promise<void>;
  /** Missed by a reader that does not keep up. */
  writeIfReady<N extends ChatEventName>(event: N, data: DataOf<N>): void;
}

export function createChatEventWriter(events: Pick<EventStream, 'send' | 'sendIfReady'>): ChatEventWriter {
  const write = <N extends ChatEventName>(event: N, data: DataOf<N>) => events.send(event, data);
  return Object.assign(write, {
    writeIfReady: <N extends ChatEventName>(event: N, data: DataOf<N>) => events.sendIfReady(event, data),
  });
}
