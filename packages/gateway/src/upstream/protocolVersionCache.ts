import { type Clock, LruMap } from '@behalf/kernel';
import type { StdioTarget } from './target.ts';
import type { Era } from './upstream.ts';

/** A server that learned the modern revision keeps accepting the legacy one, so a legacy result expires after a day. */
const ENTRY_TTL_MS = 24 * 60 * 60 * 1_000;

/** The era of servers that were probed. */
function createVersionCache<T>({
  clock,
  maxEntries,
  toKey,
  canExpire,
}: {
  readonly clock: Clock;
  readonly maxEntries: number;
  readonly toKey: (target: T) => string;
  readonly canExpire: (era: Era) => boolean;
}) {
  const entries = new LruMap<string, { readonly era: Era; readonly foundAt: number }>(maxEntries);

  return {
    get(target: T): Era | undefined {
      const key = toKey(target);
      const entry = entries.get(key);
      if (!entry) return undefined;
      if (!canExpire(entry.era) || clock.now() - entry.foundAt < ENTRY_TTL_MS) return entry.era;
      entries.delete(key);
      return undefined;
    },
    /** Finding the same era again does not extend the lifetime of an entry. */
    set(target: T, era: Era): void {
      const key = toKey(target);
      const existing = entries.peek(key);
      entries.set(key, existing?.era === era ? existing : { era, foundAt: clock.now() });
    },
    delete: (target: T) => void entries.delete(toKey(target)),
  };
}

export type ProtocolVersionCache = ReturnType<typeof createProtocolVersionCache>;

/** For streamable HTTP, by URL. The query is left out, because it may contain a secret. */
export function createProtocolVersionCache({ clock }: { readonly clock: Clock }) {
  return createVersionCache<string>({
    clock,
    maxEntries: 1_000,
    toKey(url) {
      const { origin, pathname } = new URL(url);
      return origin + pathname;
    },
    canExpire: (era) => era === 'legacy',
  });
}

/**
 * For child processes, by command line, so that a command is probed once a day instead of at every start. The
 * environment is left out: it contains credentials and rarely affects the protocol version.
 */
export function createStdioVersionCache(clock: Clock) {
  return createVersionCache<StdioTarget>({
    clock,
    maxEntries: 256,
    toKey: toCommandLine,
    canExpire: () => true,
  });
}

export function toCommandLine({ command, args, cwd }: StdioTarget): string {
  return JSON.stringify([command, args, cwd ?? null]);
}
