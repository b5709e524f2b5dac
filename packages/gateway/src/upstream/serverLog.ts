import type { Cancel, Clock } from '@behalf/kernel';
import type { PeerRequest } from './channel/peer.ts';
import type { LegacySession } from './http/session.ts';
import type { JsonObject, Log } from './upstream.ts';

const knownLevels = new Set([
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]);
const MAX_NAME_LENGTH = 64;
/** What moves the cursor of a terminal, ends a line or turns its direction: the name is the server's choice. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

interface ServerLogParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly server: string;
  readonly owner: string | undefined;
}

/**
 * Where a log message of the server goes. It names no request, so on a shared channel it may be about anybody's call:
 * the operator learns that there was one, without its content, and no user learns anything. On a channel of one user
 * it belongs to the only request under way, if there is only one.
 */
export function createServerLog({ clock, log, server, owner }: ServerLogParts) {
  const rateLimiter = createLineRateLimiter(clock, (count) =>
    log('upstream_server_log_dropped', { server, count }),
  );

  return {
    receive(params: JsonObject, activeRequests: readonly PeerRequest[]): void {
      const [only, another] = activeRequests;
      if (owner !== undefined && only?.onLog && !another) return only.onLog(params);
      if (!rateLimiter.tryAcquire()) return;
      const { level, logger } = params;
      log('upstream_server_log', {
        server,
        level: typeof level === 'string' && knownLevels.has(level) ? level : 'unknown',
        ...(typeof logger === 'string' && {
          logger: logger.slice(0, MAX_NAME_LENGTH).replaceAll(UNPRINTABLE, ' '),
        }),
      });
    },
    close: () => rateLimiter.close(),
  };
}

/** What one child, or one server, may add to the operator's log: a burst, then so many a second. */
const MAX_BURST_LINES = 100;
const MAX_LINES_PER_SECOND = 20;

interface LineRateLimiter {
  /** Whether this line may still be told. One that may not is counted. */
  tryAcquire(): boolean;
  /** Tells what is left to tell and stops the timer. */
  close(): void;
}

/**
 * Keeps a server that writes without end from filling the disk, or hiding what others say. What was left out is told
 * once, as a number, when there is room again.
 */
export function createLineRateLimiter(clock: Clock, onDropped: (count: number) => void): LineRateLimiter {
  let availableLines = MAX_BURST_LINES;
  let refilledAt = clock.now();
  let droppedCount = 0;
  let cancelTimer: Cancel = () => undefined;

  const refill = () => {
    const now = clock.now();
    const refilledLines = Math.floor(((now - refilledAt) * MAX_LINES_PER_SECOND) / 1_000);
    if (refilledLines <= 0) return;
    availableLines = Math.min(MAX_BURST_LINES, availableLines + refilledLines);
    refilledAt = now;
  };
  const reportDropped = () => {
    cancelTimer();
    const count = droppedCount;
    droppedCount = 0;
    if (count > 0) onDropped(count);
  };

  return {
    tryAcquire() {
      refill();
      if (availableLines > 0) {
        availableLines -= 1;
        return true;
      }
      droppedCount += 1;
      if (droppedCount === 1) cancelTimer = clock.timer(1_000, reportDropped);
      return false;
    },
    close: reportDropped,
  };
}

/** A session that is more verbose than anybody wants stays so for this long: callers come and go. */
const LOWER_DELAY_MS = 60_000;

type SetLevel = (level: string, session: LegacySession) => Promise<void>;

/** `logging/setLevel` of a legacy session, which knows one level for whoever uses it. */
interface SessionLogLevel {
  /** Runs the work with the session at least as verbose as `level`; `set` makes it so, for this caller. */
  withLevel<T>(level: string, session: LegacySession, work: () => Promise<T>, setLevel: SetLevel): Promise<T>;
}

/** As verbose as the most verbose request under way; each caller is told only what they want to hear. */
export function createSessionLogLevel(clock: Clock): SessionLogLevel {
  const activeLevels: string[] = [];
  let current: { readonly session: LegacySession; readonly level: string; readonly at: number } | undefined;

  async function adjust(session: LegacySession, setLevel: SetLevel): Promise<void> {
    const level = activeLevels.reduce((a, b) => (getLevelRank(b) < getLevelRank(a) ? b : a));
    const known = current?.session === session ? current : undefined;
    if (known?.level === level) return;
    const isVerboseEnough = known !== undefined && getLevelRank(known.level) < getLevelRank(level);
    if (isVerboseEnough && clock.now() - known.at < LOWER_DELAY_MS) return;
    current = { session, level, at: clock.now() };
    // A server that does not take it goes on as it was, and is not asked again.
    await setLevel(level, session).catch(() => undefined);
  }

  return {
    async withLevel(level, session, work, setLevel) {
      activeLevels.push(level);
      try {
        await adjust(session, setLevel);
        return await work();
      } finally {
        activeLevels.splice(activeLevels.indexOf(level), 1);
      }
    },
  };
}

/** As RFC 5424 has them, the most verbose first. */
const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** How grave a level is. What is none counts as the least: whoever wants less than everything does not hear it. */
export function getLevelRank(level: unknown): number {
  return Math.max(0, LOG_LEVELS.indexOf(String(level)));
}
