import type { Clock } from '@behalf/kernel';
import type { Log } from '../parts.ts';
import type { JsonObject } from '../upstream.ts';
import { createLineRateLimiter } from './lineRateLimiter.ts';
import type { PeerRequest } from './peer.ts';

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

export interface ServerLogParts {
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
