import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import type { Cancel, Clock, Keyring, SealContext } from '@behalf/kernel';

/** Words between the requests of one session, which may be served by different replicas. */
export interface Mailbox {
  /** Leaves a word for who waits for it. Where that is this process, no store is asked. */
  post(place: Place, name: string, word: string): Promise<void>;
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
  const sessions = new Map<string, Map<string, Waiting>>();
  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'mcp') return;
    const told = id === '*' ? [...sessions.values()] : [sessions.get(id) ?? new Map<string, Waiting>()];
    for (const waiting of told) for (const one of [...waiting.values()]) void one.look(parts);
  });

  function leave(waiting: Waiting): void {
    const { key } = waiting.place;
    const all = sessions.get(key);
    if (all?.get(waiting.name) !== waiting) return;
    all.delete(waiting.name);
    if (all.size === 0) sessions.delete(key);
  }

  return {
    async post(place, name, word) {
      const here = sessions.get(place.key)?.get(name);
      if (here) {
        here.hear(word);
        return;
      }
      await cache.set(slot(place, name), keyring.seal(word, contextOf(place, name)), KEPT_MS);
      await changes.publish({ topic: 'mcp', id: place.key });
    },
    wait(place, name, onWord, { poll = false } = {}) {
      const waiting = new Waiting(place, name, onWord, leave);
      const all = sessions.get(place.key);
      if (all) all.set(name, waiting);
      else sessions.set(place.key, new Map([[name, waiting]]));
      if (poll) waiting.poll(parts, clock);
      return () => waiting.stop();
    },
    close: unsubscribe,
  };
}

/** One who waits for one word. A class: every request of a session is one of them. */
class Waiting {
  readonly place: Place;
  readonly name: string;
  readonly #onWord: (word: string) => void;
  readonly #onStop: (waiting: Waiting) => void;
  #over = false;
  #looking = false;
  #cancel: Cancel | undefined;

  constructor(
    place: Place,
    name: string,
    onWord: (word: string) => void,
    onStop: (waiting: Waiting) => void,
  ) {
    this.place = place;
    this.name = name;
    this.#onWord = onWord;
    this.#onStop = onStop;
  }

  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancel?.();
    this.#onStop(this);
  }

  hear(word: string): void {
    if (this.#over) return;
    this.stop();
    this.#onWord(word);
  }

  async look({ cache, keyring }: MailboxParts): Promise<void> {
    if (this.#looking || this.#over) return;
    this.#looking = true;
    const at = slot(this.place, this.name);
    try {
      const sealed = await cache.get(at);
      if (sealed === undefined) return;
      this.hear(keyring.open(sealed, contextOf(this.place, this.name)));
      await cache.delete(at);
    } catch {
      // The store does not answer, or it is no word of ours: the next look may find one.
    } finally {
      this.#looking = false;
    }
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
