import type { Cancel, Clock } from '@behalf/kernel';
import type { PeerRequest } from './channel/peer.ts';
import type { LegacySession } from './http/session.ts';
import type { JsonObject, Log } from './upstream.ts';

/** Severity levels of RFC 5424, the most verbose first. */
const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** Severity of a level. Unknown levels count as the least severe. */
export function getLevelRank(level: unknown): number {
  return Math.max(0, LOG_LEVELS.indexOf(String(level)));
}

const MAX_NAME_LENGTH = 64;
/** Control characters, line breaks and direction marks. The server chooses the name, and it is printed on terminals. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/**
 * Handles log messages that name no request. On a shared channel such a message can concern any user: the operator log
 * records that it was sent, without its content, and no user receives it. On a channel of one user it is delivered to
 * the only active request.
 */
export function createServerLog({
  clock,
  log,
  server,
  owner,
}: {
  readonly clock: Clock;
  readonly log: Log;
  readonly server: string;
  readonly owner: string | undefined;
}) {
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
        level: typeof level === 'string' && LOG_LEVELS.includes(level) ? level : 'unknown',
        ...(typeof logger === 'string' && {
          logger: logger.slice(0, MAX_NAME_LENGTH).replaceAll(UNPRINTABLE, ' '),
        }),
      });
    },
    close: () => rateLimiter.close(),
  };
}

/** Token bucket per child process or server: a burst, then a steady rate. */
const MAX_BURST_LINES = 100;
const MAX_LINES_PER_SECOND = 20;

/**
 * Limits the log lines of one server, so that it cannot fill the disk or hide the lines of others. `onDropped` receives
 * the number of dropped lines after a second, or on close.
 */
export function createLineRateLimiter(clock: Clock, onDropped: (count: number) => void) {
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
    /** Returns false if the line must be dropped, and counts it. */
    tryAcquire(): boolean {
      refill();
      if (availableLines > 0) {
        availableLines -= 1;
        return true;
      }
      droppedCount += 1;
      if (droppedCount === 1) cancelTimer = clock.timer(1_000, reportDropped);
      return false;
    },
    /** Reports the remaining dropped lines and stops the timer. */
    close: reportDropped,
  };
}

/** A session keeps a more verbose level than needed for this long, so that it does not switch with every request. */
const LOWER_DELAY_MS = 60_000;

/**
 * `logging/setLevel` of a legacy session, which has one level for all of its requests: the most verbose level of the
 * current requests. Each caller receives only messages of the requested level.
 */
export function createSessionLogLevel(clock: Clock) {
  const activeLevels: string[] = [];
  let current:
    { readonly session: LegacySession; readonly level: string; readonly setAt: number } | undefined;
  type SetLevel = (level: string, session: LegacySession) => Promise<void>;

  async function adjust(session: LegacySession, setLevel: SetLevel): Promise<void> {
    const level = activeLevels.reduce((a, b) => (getLevelRank(b) < getLevelRank(a) ? b : a));
    const known = current?.session === session ? current : undefined;
    if (known?.level === level) return;
    const isVerboseEnough = known !== undefined && getLevelRank(known.level) < getLevelRank(level);
    if (isVerboseEnough && clock.now() - known.setAt < LOWER_DELAY_MS) return;
    current = { session, level, setAt: clock.now() };
    // Failures are ignored. The level is not set again for this session until it changes.
    await setLevel(level, session).catch(() => undefined);
  }

  return {
    /** Runs `work` while the session is at least as verbose as `level`. */
    async withLevel<T>(
      level: string,
      session: LegacySession,
      work: () => Promise<T>,
      setLevel: SetLevel,
    ): Promise<T> {
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
