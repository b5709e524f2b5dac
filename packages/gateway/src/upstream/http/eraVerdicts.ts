import type { Clock } from '@behalf/kernel';
import type { Era } from '../upstream.ts';

/** A legacy verdict works silently for ever on a server that has long learnt the new revision: ask again each day. */
const LEGACY_HOLDS_MS = 24 * 60 * 60 * 1_000;
const MOST_URLS = 1_000;

/** Which era a server was found to speak, by its URL without the query, which may hold a secret. */
export interface EraVerdicts {
  find(url: string): Era | undefined;
  keep(url: string, era: Era): void;
  forget(url: string): void;
}

export function createEraVerdicts({ clock }: { clock: Clock }): EraVerdicts {
  /** The least recently used comes first. */
  const verdicts = new Map<string, { era: Era; at: number }>();

  return {
    find(url) {
      const key = keyOf(url);
      const verdict = verdicts.get(key);
      if (!verdict) return undefined;
      verdicts.delete(key);
      if (verdict.era === 'legacy' && clock.now() - verdict.at >= LEGACY_HOLDS_MS) return undefined;
      verdicts.set(key, verdict);
      return verdict.era;
    },
    keep(url, era) {
      const key = keyOf(url);
      const known = verdicts.get(key);
      verdicts.delete(key);
      // The day of a legacy verdict begins when it was found, not when it was last used.
      verdicts.set(key, known?.era === era ? known : { era, at: clock.now() });
      if (verdicts.size > MOST_URLS) verdicts.delete(verdicts.keys().next().value as string);
    },
    forget: (url) => void verdicts.delete(keyOf(url)),
  };
}

function keyOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
