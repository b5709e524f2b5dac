import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import { ActiveSet, type Cancel, type Clock, type Keyring, coalesce } from '@behalf/kernel';
import { type SessionKey, sessionSealContext } from '../sealed.ts';

/**
 * Messages between the requests of one session, or of one suspended call, which different replicas may serve. Invariants:
 * - A message is delivered at most once: the replica that deletes it from the store delivers it.
 * - Messages are sealed to the session. A process that can only write to the store cannot forge or read one.
 */
export interface Mailbox {
  /** Delivers a message to the waiter of this name. If the waiter is at this replica, the store is not used. */
  post(sessionKey: SessionKey, name: string, message: string, options?: { ttlMs?: number }): Promise<void>;
  /**
   * Waits for one message. Returns a function that stops waiting. `shouldPoll`: reads the store every two seconds, in case a
   * change notification is lost.
   */
  wait(
    sessionKey: SessionKey,
    name: string,
    onMessage: (message: string) => void,
    options?: { shouldPoll?: boolean },
  ): () => void;
  close(): void;
}

interface MailboxParts {
  readonly cache: Cache;
  readonly changes: ChangeFeed;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

const POLL_MS = 2_000;
/** The longest time that a client may wait before it asks for the outcome of a request. */
const DEFAULT_TTL_MS = 5 * 60_000;

export function createMailbox(parts: MailboxParts): Mailbox {
  const { cache, changes, keyring } = parts;
  /** Optimized for adding and removing: every legacy request waits for its cancellation, and messages are rare. */
  const waiters = new ActiveSet<Waiter>();
  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'mcpSessions') return;
    for (const waiter of waiters) if (id === '*' || waiter.sessionKey.key === id) void waiter.check();
  });

  return {
    async post(sessionKey, name, message, { ttlMs = DEFAULT_TTL_MS } = {}) {
      const localWaiter = [...waiters].find(
        (waiter) => waiter.name === name && waiter.sessionKey.key === sessionKey.key,
      );
      if (localWaiter) {
        localWaiter.deliver(message);
        return;
      }
      const sealed = keyring.seal(message, sessionSealContext(sessionKey, 'mcp-message', name));
      await cache.set(cacheKey(sessionKey, name), sealed, ttlMs);
      await changes.publish({ topic: 'mcpSessions', id: sessionKey.key });
    },
    wait(sessionKey, name, onMessage, { shouldPoll = false } = {}) {
      const waiter = new Waiter(parts, sessionKey, name, onMessage, waiters);
      if (shouldPoll) waiter.poll();
      return () => waiter.stop();
    },
    close() {
      unsubscribe();
      for (const waiter of waiters) waiter.stop();
    },
  };
}

/** Waits for one message. A class because every legacy request creates one. */
class Waiter {
  readonly sessionKey: SessionKey;
  readonly name: string;
  readonly #parts: MailboxParts;
  readonly #onMessage: (message: string) => void;
  readonly #waiters: ActiveSet<Waiter>;
  readonly #slot: number;
  #isStopped = false;
  #check: (() => Promise<void>) | undefined;
  #cancelPoll: Cancel | undefined;

  constructor(
    parts: MailboxParts,
    sessionKey: SessionKey,
    name: string,
    onMessage: (message: string) => void,
    waiters: ActiveSet<Waiter>,
  ) {
    this.sessionKey = sessionKey;
    this.name = name;
    this.#parts = parts;
    this.#onMessage = onMessage;
    this.#waiters = waiters;
    this.#slot = waiters.add(this);
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#cancelPoll?.();
    this.#waiters.remove(this.#slot, this);
  }

  deliver(message: string): void {
    if (this.#isStopped) return;
    this.stop();
    this.#onMessage(message);
  }

  /** Reads the store. A notification during a read causes another read, which finds a message that arrived in between. */
  check(): Promise<void> {
    this.#check ??= coalesce(async () => {
      // If the store fails, or the message cannot be opened, a later check may succeed.
      if (!this.#isStopped) await this.#takeMessage().catch(() => undefined);
    });
    return this.#check();
  }

  async #takeMessage(): Promise<void> {
    const { cache, keyring } = this.#parts;
    const storedKey = cacheKey(this.sessionKey, this.name);
    const sealed = await cache.get(storedKey);
    if (sealed === undefined || this.#isStopped) return;
    const message = keyring.open(sealed, sessionSealContext(this.sessionKey, 'mcp-message', this.name));
    // If several replicas wait for the message, the one that deletes it delivers it.
    if (await cache.delete(storedKey)) this.deliver(message);
  }

  poll(): void {
    if (this.#isStopped) return;
    void this.check();
    this.#cancelPoll = this.#parts.clock.timer(POLL_MS, () => this.poll());
  }
}

function cacheKey({ key }: SessionKey, name: string): string {
  return `message:${key}:${name}`;
}
