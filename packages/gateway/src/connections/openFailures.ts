import type { ErrorCode } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import type { UpstreamError } from '../upstream/upstreamError.ts';
import type { ConnectionLimits } from './limits.ts';

export interface OpenFailure {
  readonly server: string;
  readonly principal: string | undefined;
  readonly code: ErrorCode;
  /** When the first one was after which nothing went well. */
  readonly since: number;
  /** Of the latest one. */
  readonly at: number;
  /** Nobody was there: what is open still leads nowhere either. */
  readonly isLost: boolean;
}

/** Why a connection could not be opened, or led nowhere, last time; for whoever asks how it stands. */
export interface OpenFailures {
  note(server: string, principal: string | undefined, failure: UpstreamError, isLost: boolean): void;
  clear(server: string, principal: string | undefined): void;
  find(server: string, principal: string | undefined): OpenFailure | undefined;
  all(): Iterable<OpenFailure>;
  sweep(): void;
}

export function createOpenFailures(clock: Clock, limits: ConnectionLimits): OpenFailures {
  const failures = new Map<string, OpenFailure>();
  const keyOf = (server: string, principal: string | undefined) =>
    JSON.stringify([server, principal ?? null]);

  return {
    note(server, principal, { code }, isLost) {
      const key = keyOf(server, principal);
      const at = clock.now();
      const since = failures.get(key)?.since ?? at;
      failures.delete(key);
      if (failures.size >= limits.remembered) failures.delete(failures.keys().next().value as string);
      failures.set(key, { server, principal, code, since, at, isLost });
    },
    clear: (server, principal) => void (failures.size > 0 && failures.delete(keyOf(server, principal))),
    find: (server, principal) => failures.get(keyOf(server, principal)),
    all: () => failures.values(),
    sweep() {
      const old = clock.now() - limits.idleMs;
      for (const [key, { at }] of failures) if (at < old) failures.delete(key);
    },
  };
}
