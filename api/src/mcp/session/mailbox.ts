import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import { Roster, type Cancel, type Clock, type Keyring, type SealContext } from '@behalf/kernel';

/** Words between the requests of one session, which may be served by different replicas. */
export interface Mailbox {
  /** Leaves a word for who waits for it. Where that is this process, no store is asked. */
  post(place: Place, name: string, word: string, options?: { keptMs?: number }): Promise<void>;
  /**
   * Hears it once. With `poll` also when the notice is lost, at the price of asking every two seconds. Returns how to stop.
   */
  wait(place: Place, name: string, onWord: (word: string) => void, options?: { poll?: boolean }): () => void;
  close(): void;
}

/** Whose session. */
export interface Place {
  readonly tenant: string;
  readonly principal: string;
  /** Of the session. */
  readonly key: string;
}

export interface MailboxParts {
  readonly cache: Cache;
  readonly changes: ChangeFeed;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

const POLL_MS = 2_000;
/** For as long as a client may wait before it asks what became of something. */
const KEPT_MS = 5 * 60_000;

export function createMailbox(parts: MailboxParts): Mailbox {
  const { cache, changes, keyring, clock } = parts;
  /** Looked through when there is a word, which is seldom; every request comes and goes here. */
  const all = new Roster<Waiting>();
  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'mcpSessions') return;
    for (const waiting of all) if (id === '*' || waiting.place.key === id) void waiting.look(parts);
  });

  return {
    async post(place, name, word, { keptMs = KEPT_MS } = {}) {
      const here = [...all].find((waiting) => waiting.name === name && waiting.place.key === place.key);
      if (here) {
        here.hear(word);
        return;
      }
      await cache.set(slot(place, name), keyring.seal(word, contextOf(place, name)), keptMs);
      await changes.publish({ topic: 'mcpSessions', id: place.key });
    },
    wait(place, name, onWord, { poll = false } = {}) {
      const waiting = new Waiting(place, name, onWord, all);
      if (poll) waiting.poll(parts, clock);
      return () => waiting.stop();
    },
    close() {
      unsubscribe();
      for (const waiting of all) waiting.stop();
    },
  };
}

/** One who waits for one word. A class: every request of a session is one of them. */
class Waiting {
  readonly place: Place;
  readonly name: string;
  readonly #onWord: (word: string) => void;
  readonly #all: Roster<Waiting>;
  readonly #seat: number;
  #over = false;
  #looking = false;
  #again = false;
  #cancel: Cancel | undefined;

  constructor(place: Place, name: string, onWord: (word: string) => void, all: Roster<Waiting>) {
    this.place = place;
    this.name = name;
    this.#onWord = onWord;
    this.#all = all;
    this.#seat = all.enter(this);
  }

  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancel?.();
    this.#all.leave(this.#seat, this);
  }

  hear(word: string): void {
    if (this.#over) return;
    this.stop();
    this.#onWord(word);
  }

  /** One look at a time. What is told meanwhile is looked for again: it may have come after this one had looked. */
  async look(parts: MailboxParts): Promise<void> {
    this.#again = true;
    if (this.#looking) return;
    this.#looking = true;
    while (this.#again && !this.#over) {
      this.#again = false;
      try {
        await this.#take(parts);
      } catch {
        // The store does not answer, or it is no word of ours: the next look may find one.
      }
    }
    this.#looking = false;
  }

  /** Whoever takes a word away has heard it: of two who wait for the same one, at two replicas, one does. */
  async #take({ cache, keyring }: MailboxParts): Promise<void> {
    const at = slot(this.place, this.name);
    const sealed = await cache.get(at);
    if (sealed === undefined || this.#over) return;
    const word = keyring.open(sealed, contextOf(this.place, this.name));
    if (await cache.delete(at)) this.hear(word);
  }

  poll(parts: MailboxParts, clock: Clock): void {
    if (this.#over) return;
    void this.look(parts);
    this.#cancel = clock.timer(POLL_MS, () => this.poll(parts, clock));
  }
}

function slot({ key }: Place, name: string): string {
  return `word:${key}:${name}`;
}

function contextOf({ tenant, principal, key }: Place, name: string): SealContext {
  return { tenant, principal, server: '-', kind: 'mcp-word', field: name, binding: [key] };
}
