import type { Clock } from '@behalf/kernel';
import type { Era } from '../upstream.ts';

/** A legacy verdict works silently for ever on a server that has long learnt the new revision: ask again each day. */
const LEGACY_TTL_MS = 24 * 60 * 60 * 1_000;
const MAX_ENTRIES = 1_000;

/** Which era a server was found to speak, by its URL without the query, which may hold a secret. */
export interface ProtocolVersionCache {
  get(url: string): Era | undefined;
  set(url: string, era: Era): void;
  delete(url: string): void;
}

export function createProtocolVersionCache({ clock }: { clock: Clock }): ProtocolVersionCache {
  /** The least recently used comes first. */
  const entries = new Map<string, { era: Era; foundAt: number }>();

  return {
    get(url) {
      const key = toVersionCacheKey(url);
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      if (entry.era === 'legacy' && clock.now() - entry.foundAt >= LEGACY_TTL_MS) return undefined;
      entries.set(key, entry);
      return entry.era;
    },
    set(url, era) {
      const key = toVersionCacheKey(url);
      const existing = entries.get(key);
      entries.delete(key);
      // The day of a legacy verdict begins when it was found, not when it was last used.
      entries.set(key, existing?.era === era ? existing : { era, foundAt: clock.now() });
      if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value as string);
    },
    delete: (url) => void entries.delete(toVersionCacheKey(url)),
  };
}

function toVersionCacheKey(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
