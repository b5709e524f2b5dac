import type { ErrorCode } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import type { UpstreamError } from '../upstream/upstreamError.ts';
import type { ConnectionLimits } from './limits.ts';

export interface ConnectionFailure {
  readonly server: string;
  readonly principal: string | undefined;
  readonly code: ErrorCode;
  /** When the first one was after which nothing went well. */
  readonly since: number;
  /** Of the latest one. */
  readonly lastFailureAt: number;
  /** Nobody was there: what is open still leads nowhere either. */
  readonly isUnreachable: boolean;
}

/** Why a connection could not be opened, or led nowhere, last time; for whoever asks how it stands. */
export interface ConnectionFailures {
  record(server: string, principal: string | undefined, failure: UpstreamError, isUnreachable: boolean): void;
  clear(server: string, principal: string | undefined): void;
  find(server: string, principal: string | undefined): ConnectionFailure | undefined;
  list(): Iterable<ConnectionFailure>;
  sweep(): void;
}

export function createConnectionFailures(clock: Clock, limits: ConnectionLimits): ConnectionFailures {
  const failures = new Map<string, ConnectionFailure>();
  const keyOf = (server: string, principal: string | undefined) =>
    JSON.stringify([server, principal ?? null]);

  return {
    record(server, principal, { code }, isUnreachable) {
      const key = keyOf(server, principal);
      const lastFailureAt = clock.now();
      const since = failures.get(key)?.since ?? lastFailureAt;
      failures.delete(key);
      if (failures.size >= limits.maxEntries) failures.delete(failures.keys().next().value as string);
      failures.set(key, { server, principal, code, since, lastFailureAt, isUnreachable });
    },
    clear: (server, principal) => void (failures.size > 0 && failures.delete(keyOf(server, principal))),
    find: (server, principal) => failures.get(keyOf(server, principal)),
    list: () => failures.values(),
    sweep() {
      const cutoff = clock.now() - limits.idleTimeoutMs;
      for (const [key, { lastFailureAt }] of failures) if (lastFailureAt < cutoff) failures.delete(key);
    },
  };
}
