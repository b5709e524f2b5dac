import type { Clock } from '@behalf/kernel';
import type { RunMetered } from './compileSchema.ts';
import { UncheckableSchemaError } from './uncheckableSchemaError.ts';

const WINDOW_MS = 60_000;
/** What one server's schemas may take of everybody's time within a window, and all servers' together. */
const MAX_SERVER_MS = 1_000;
const MAX_TOTAL_MS = 10_000;
/** The oldest is forgotten first, and with it what it spent. */
const MAX_SERVERS = 1_000;

export interface CompileTimeBudget {
  /** False while this server, or all of them, have used up their time. */
  hasTime(server: string): boolean;
  /** Runs for this server what takes the compiler's time; throws `Uncheckable` when there is none left. */
  meterFor(server: string): RunMetered;
  /** True once for this server within a window: that there is none left is worth one line. */
  shouldLog(server: string): boolean;
}

interface TimeUsage {
  since: number;
  ms: number;
  isLogged: boolean;
}

/**
 * Compiling keeps everybody waiting, and a server may send new schemas as fast as it is asked for them. One that has
 * used up its time is left unchecked until the next window: its tools stay usable.
 */
export function createCompileTimeBudget(clock: Clock): CompileTimeBudget {
  const byServer = new Map<string, TimeUsage>();
  const totalUsage: TimeUsage = { since: clock.now(), ms: 0, isLogged: false };

  function resetExpiredWindow(usage: TimeUsage): TimeUsage {
    const now = clock.now();
    // A clock that was set back must not make a window last for ever.
    if (now - usage.since >= WINDOW_MS || now < usage.since) {
      usage.since = now;
      usage.ms = 0;
      usage.isLogged = false;
    }
    return usage;
  }

  function getUsage(server: string): TimeUsage {
    const existing = byServer.get(server);
    if (existing) return resetExpiredWindow(existing);
    const [oldest] = byServer.keys();
    if (oldest !== undefined && byServer.size >= MAX_SERVERS) byServer.delete(oldest);
    const usage = { since: clock.now(), ms: 0, isLogged: false };
    byServer.set(server, usage);
    return usage;
  }

  const hasTime = (server: string) =>
    getUsage(server).ms < MAX_SERVER_MS && resetExpiredWindow(totalUsage).ms < MAX_TOTAL_MS;

  return {
    hasTime,
    meterFor: (server) => (work) => {
      if (!hasTime(server)) throw new UncheckableSchemaError('compiler_busy');
      const startedAt = clock.now();
      try {
        return work();
      } finally {
        const elapsedMs = Math.max(0, clock.now() - startedAt);
        getUsage(server).ms += elapsedMs;
        resetExpiredWindow(totalUsage).ms += elapsedMs;
      }
    },
    shouldLog(server) {
      const usage = getUsage(server);
      const isFirst = !usage.isLogged;
      usage.isLogged = true;
      return isFirst;
    },
  };
}
