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

interface Waiting {
  readonly look: () => void;
  readonly hear: (word: string) => void;
}

export function createMailbox({ cache, changes, keyring, clock }: MailboxParts): Mailbox {
  const sessions = new Map<string, Map<string, Waiting>>();
  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'mcp') return;
    const told = id === '*' ? [...sessions.values()] : [sessions.get(id) ?? new Map<string, Waiting>()];
    for (const waiting of told) for (const { look } of [...waiting.values()]) look();
  });

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
      let over = false;
      let looking = false;
      let cancel: Cancel = () => undefined;
      const stop = () => {
        over = true;
        cancel();
        const waiting = sessions.get(place.key);
        if (waiting?.get(name) !== entry) return;
        waiting.delete(name);
        if (waiting.size === 0) sessions.delete(place.key);
      };
      const hear = (word: string) => {
        if (over) return;
        stop();
        onWord(word);
      };
      const look = async () => {
        if (looking || over) return;
        looking = true;
        try {
          const sealed = await cache.get(slot(place, name));
          if (sealed === undefined) return;
          hear(keyring.open(sealed, contextOf(place, name)));
          await cache.delete(slot(place, name));
        } catch {
          // The store does not answer, or it is no word of ours: the next look may find one.
        } finally {
          looking = false;
        }
      };
      const entry: Waiting = { look: () => void look(), hear };
      const waiting = sessions.get(place.key) ?? new Map<string, Waiting>();
      sessions.set(place.key, waiting.set(name, entry));
      const again = () => {
        cancel = clock.timer(POLL_MS, () => {
          entry.look();
          if (!over) again();
        });
      };
      if (poll) {
        entry.look();
        again();
      }
      return stop;
    },
    close: unsubscribe,
  };
}

function slot({ key }: Place, name: string): string {
  return `word:${key}:${name}`;
}

function contextOf({ tenant, principal, key }: Place, name: string): SealContext {
  return { tenant, principal, server: '-', kind: 'mcp-word', field: name, binding: [key] };
}
