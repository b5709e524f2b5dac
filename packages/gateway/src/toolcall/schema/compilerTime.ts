import type { Clock } from '@behalf/kernel';
import type { Spend } from './compileSchema.ts';
import { Uncheckable } from './uncheckable.ts';

const WINDOW_MS = 60_000;
/** What one server's schemas may take of everybody's time within a window, and all servers' together. */
const MOST_OF_ONE_MS = 1_000;
const MOST_OF_ALL_MS = 10_000;
/** The oldest is forgotten first, and with it what it spent. */
const MOST_SERVERS = 1_000;

export interface CompilerTime {
  /** False while this server, or all of them, have used up their time. */
  has(server: string): boolean;
  /** Runs for this server what takes the compiler's time; throws `Uncheckable` when there is none left. */
  of(server: string): Spend;
  /** True once for this server within a window: that there is none left is worth one line. */
  tell(server: string): boolean;
}

interface Spent {
  since: number;
  ms: number;
  told: boolean;
}

/**
 * Compiling keeps everybody waiting, and a server may send new schemas as fast as it is asked for them. One that has
 * used up its time is left unchecked until the next window: its tools stay usable.
 */
export function createCompilerTime(clock: Clock): CompilerTime {
  const byServer = new Map<string, Spent>();
  const all: Spent = { since: clock.now(), ms: 0, told: false };

  function current(spent: Spent): Spent {
    const now = clock.now();
    // A clock that was set back must not make a window last for ever.
    if (now - spent.since >= WINDOW_MS || now < spent.since) {
      spent.since = now;
      spent.ms = 0;
      spent.told = false;
    }
    return spent;
  }

  function find(server: string): Spent {
    const known = byServer.get(server);
    if (known) return current(known);
    const [oldest] = byServer.keys();
    if (oldest !== undefined && byServer.size >= MOST_SERVERS) byServer.delete(oldest);
    const spent = { since: clock.now(), ms: 0, told: false };
    byServer.set(server, spent);
    return spent;
  }

  const has = (server: string) => find(server).ms < MOST_OF_ONE_MS && current(all).ms < MOST_OF_ALL_MS;

  return {
    has,
    of: (server) => (work) => {
      if (!has(server)) throw new Uncheckable('compiler_busy');
      const begun = clock.now();
      try {
        return work();
      } finally {
        const took = Math.max(0, clock.now() - begun);
        find(server).ms += took;
        current(all).ms += took;
      }
    },
    tell(server) {
      const spent = find(server);
      const first = !spent.told;
      spent.told = true;
      return first;
    },
  };
}
