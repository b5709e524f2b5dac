import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import { ActiveSet, type Cancel, type Clock, type Keyring, type SealContext } from '@behalf/kernel';

/** Words between the requests of one session, which may be served by different replicas. */
export interface Mailbox {
  /** Leaves a word for who waits for it. Where that is this process, no store is asked. */
  post(sessionKey: SessionKey, name: string, message: string, options?: { ttlMs?: number }): Promise<void>;
  /**
   * Hears it once. With `poll` also when the notice is lost, at the price of asking every two seconds. Returns how to stop.
   */
  wait(
    sessionKey: SessionKey,
    name: string,
    onMessage: (message: string) => void,
    options?: { shouldPoll?: boolean },
  ): () => void;
  close(): void;
}

/** Whose session. */
export interface SessionKey {
  readonly tenant: string;
  readonly principal: string;
  /** Of the session. */
  readonly key: string;
}

interface MailboxParts {
  readonly cache: Cache;
  readonly changes: ChangeFeed;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

const POLL_MS = 2_000;
/** For as long as a client may wait before it asks what became of something. */
const DEFAULT_TTL_MS = 5 * 60_000;

export function createMailbox(parts: MailboxParts): Mailbox {
  const { cache, changes, keyring, clock } = parts;
  /** Looked through when there is a word, which is seldom; every request comes and goes here. */
  const waiters = new ActiveSet<Waiter>();
  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'mcpSessions') return;
    for (const waiter of waiters) if (id === '*' || waiter.sessionKey.key === id) void waiter.check(parts);
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
      await cache.set(
        cacheKey(sessionKey, name),
        keyring.seal(message, toSealContext(sessionKey, name)),
        ttlMs,
      );
      await changes.publish({ topic: 'mcpSessions', id: sessionKey.key });
    },
    wait(sessionKey, name, onMessage, { shouldPoll = false } = {}) {
      const waiter = new Waiter(sessionKey, name, onMessage, waiters);
      if (shouldPoll) waiter.poll(parts, clock);
      return () => waiter.stop();
    },
    close() {
      unsubscribe();
      for (const waiter of waiters) waiter.stop();
    },
  };
}

/** One who waits for one word. A class: every request of a session is one of them. */
class Waiter {
  readonly sessionKey: SessionKey;
  readonly name: string;
  readonly #onMessage: (message: string) => void;
  readonly #waiters: ActiveSet<Waiter>;
  readonly #slot: number;
  #isStopped = false;
  #isChecking = false;
  #isCheckRequested = false;
  #cancel: Cancel | undefined;

  constructor(
    sessionKey: SessionKey,
    name: string,
    onMessage: (message: string) => void,
    waiters: ActiveSet<Waiter>,
  ) {
    this.sessionKey = sessionKey;
    this.name = name;
    this.#onMessage = onMessage;
    this.#waiters = waiters;
    this.#slot = waiters.add(this);
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#cancel?.();
    this.#waiters.remove(this.#slot, this);
  }

  deliver(message: string): void {
    if (this.#isStopped) return;
    this.stop();
    this.#onMessage(message);
  }

  /** One look at a time. What is told meanwhile is looked for again: it may have come after this one had looked. */
  async check(parts: MailboxParts): Promise<void> {
    this.#isCheckRequested = true;
    if (this.#isChecking) return;
    this.#isChecking = true;
    while (this.#isCheckRequested && !this.#isStopped) {
      this.#isCheckRequested = false;
      try {
        await this.#takeMessage(parts);
      } catch {
        // The store does not answer, or it is no word of ours: the next look may find one.
      }
    }
    this.#isChecking = false;
  }

  /** Whoever takes a word away has heard it: of two who wait for the same one, at two replicas, one does. */
  async #takeMessage({ cache, keyring }: MailboxParts): Promise<void> {
    const storedKey = cacheKey(this.sessionKey, this.name);
    const sealed = await cache.get(storedKey);
    if (sealed === undefined || this.#isStopped) return;
    const message = keyring.open(sealed, toSealContext(this.sessionKey, this.name));
    if (await cache.delete(storedKey)) this.deliver(message);
  }

  poll(parts: MailboxParts, clock: Clock): void {
    if (this.#isStopped) return;
    void this.check(parts);
    this.#cancel = clock.timer(POLL_MS, () => this.poll(parts, clock));
  }
}

function cacheKey({ key }: SessionKey, name: string): string {
  return `word:${key}:${name}`;
}

function toSealContext({ tenant, principal, key }: SessionKey, name: string): SealContext {
  return { tenant, principal, server: '-', kind: 'mcp-word', field: name, binding: [key] };
}
