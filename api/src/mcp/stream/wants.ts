import type { ChangeFeed } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import type { SharedLists } from '../session/sharedLists.ts';

/** Streams that clients ask one replica for and another one holds. One list for each that holds some: a notice costs one look. */
export interface Wants {
  /** Tells the replica that holds the stream. `word` is for it alone. */
  post(replica: string, stream: string, word: string): Promise<void>;
  close(): void;
}

export interface WantParts {
  readonly lists: SharedLists;
  readonly changes: Pick<ChangeFeed, 'publish' | 'subscribe'>;
  readonly clock: Clock;
  /** Names this process. */
  readonly replica: string;
  /** Once for each word. Not heard of again: whoever asked sees that nobody answers. */
  readonly onWanted: (stream: string, word: string) => void;
}

/** Whoever has not been heard by then has given up. */
const KEPT_MS = 30_000;
const MOST = 500;

type Entry = readonly [stream: string, word: string, until: number];

export function createWants({ lists, changes, clock, replica, onWanted }: WantParts): Wants {
  /** What was heard and may still stand in the list. */
  let heard = new Set<string>();
  let looking = false;
  let again = false;
  const own = slotOf(replica);

  async function look(): Promise<void> {
    again = true;
    if (looking) return;
    looking = true;
    while (again) {
      again = false;
      try {
        const list = await lists.read(own);
        const fresh = list.filter((text) => !heard.has(text));
        heard = new Set(list);
        for (const text of fresh) take(text);
      } catch {
        // The store does not answer: whoever wants something says so again.
      }
    }
    looking = false;
  }

  function take(text: string): void {
    try {
      const [stream, word, until] = JSON.parse(text) as Entry;
      if (clock.now() < until) onWanted(stream, word);
    } catch {
      // No word of ours: the others are.
    }
  }

  const close = changes.subscribe(({ topic, id }) => {
    if (topic === 'mcpSessions' && (id === own || id === '*')) void look();
  });

  return {
    async post(holder, stream, word) {
      const entry: Entry = [stream, word, clock.now() + KEPT_MS];
      await lists.change(slotOf(holder), KEPT_MS, (list) => [
        ...list.filter(isLive).slice(1 - MOST),
        JSON.stringify(entry),
      ]);
      await changes.publish({ topic: 'mcpSessions', id: slotOf(holder) });
    },
    close,
  };

  function isLive(text: string): boolean {
    return clock.now() < (JSON.parse(text) as Entry)[2];
  }
}

function slotOf(replica: string): string {
  return `wants:${replica}`;
}
