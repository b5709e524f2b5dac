import type { ChangeFeed } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import type { SharedLists } from '../session/sharedLists.ts';

/** Streams that clients ask one replica for and another one holds. One list for each that holds some: a notice costs one look. */
export interface RemoteStreamRequests {
  /** Tells the replica that holds the stream. `word` is for it alone. */
  post(replica: string, streamId: string, message: string): Promise<void>;
  close(): void;
}

export interface RemoteStreamRequestParts {
  readonly lists: SharedLists;
  readonly changes: Pick<ChangeFeed, 'publish' | 'subscribe'>;
  readonly clock: Clock;
  /** Names this process. */
  readonly replica: string;
  /** Once for each word. Not heard of again: whoever asked sees that nobody answers. */
  readonly onRequest: (streamId: string, message: string) => void;
}

/** Whoever has not been heard by then has given up. */
const REQUEST_TTL_MS = 30_000;
const MAX_REQUESTS = 500;

type RequestEntry = readonly [streamId: string, message: string, expiresAt: number];

export function createRemoteStreamRequests({
  lists,
  changes,
  clock,
  replica,
  onRequest,
}: RemoteStreamRequestParts): RemoteStreamRequests {
  /** What was heard and may still stand in the list. */
  let seen = new Set<string>();
  let isChecking = false;
  let isRequested = false;
  const ownKey = requestListKey(replica);

  async function check(): Promise<void> {
    isRequested = true;
    if (isChecking) return;
    isChecking = true;
    while (isRequested) {
      isRequested = false;
      try {
        const list = await lists.read(ownKey);
        const fresh = list.filter((text) => !seen.has(text));
        seen = new Set(list);
        for (const text of fresh) handle(text);
      } catch {
        // The store does not answer: whoever wants something says so again.
      }
    }
    isChecking = false;
  }

  function handle(text: string): void {
    try {
      const [streamId, message, expiresAt] = JSON.parse(text) as RequestEntry;
      if (clock.now() < expiresAt) onRequest(streamId, message);
    } catch {
      // No word of ours: the others are.
    }
  }

  const close = changes.subscribe(({ topic, id }) => {
    if (topic === 'mcpSessions' && (id === ownKey || id === '*')) void check();
  });

  return {
    async post(holder, streamId, message) {
      const entry: RequestEntry = [streamId, message, clock.now() + REQUEST_TTL_MS];
      await lists.change(requestListKey(holder), REQUEST_TTL_MS, (list) => [
        ...list.filter(isLive).slice(1 - MAX_REQUESTS),
        JSON.stringify(entry),
      ]);
      await changes.publish({ topic: 'mcpSessions', id: requestListKey(holder) });
    },
    close,
  };

  function isLive(text: string): boolean {
    return clock.now() < (JSON.parse(text) as RequestEntry)[2];
  }
}

function requestListKey(replica: string): string {
  return `wants:${replica}`;
}
