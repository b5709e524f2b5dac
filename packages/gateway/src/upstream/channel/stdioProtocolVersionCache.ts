import type { Clock } from '@behalf/kernel';
import type { StdioTarget } from '../target.ts';
import type { Era } from '../upstream.ts';

/** A legacy verdict works silently for ever: it is asked anew after a day, in case the server was updated. */
const ENTRY_TTL_MS = 24 * 60 * 60 * 1_000;
const MAX_ENTRIES = 256;

export interface StdioProtocolVersionCache {
  get(target: StdioTarget): Era | undefined;
  set(target: StdioTarget, era: Era): void;
}

/** Which era a command speaks, so that it is probed once a day and not at every start. */
export function createStdioProtocolVersionCache(clock: Clock): StdioProtocolVersionCache {
  const entries = new Map<string, { readonly era: Era; readonly expiresAt: number }>();
  return {
    get(target) {
      const entry = entries.get(commandLineKey(target));
      return entry && entry.expiresAt > clock.now() ? entry.era : undefined;
    },
    set(target, era) {
      const key = commandLineKey(target);
      entries.delete(key);
      entries.set(key, { era, expiresAt: clock.now() + ENTRY_TTL_MS });
      // Arguments may hold a user's values: what users make up must not grow without end.
      for (const oldest of entries.keys()) {
        if (entries.size <= MAX_ENTRIES) break;
        entries.delete(oldest);
      }
    },
  };
}

/** The environment is left out: it holds credentials, and hardly ever decides which revision is spoken. */
export function commandLineKey({ command, args, cwd }: StdioTarget): string {
  return JSON.stringify([command, args, cwd ?? null]);
}
