import type { ErrorCode } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import type { UpstreamError } from '../upstream/upstreamError.ts';
import type { ConnectionLimits } from './limits.ts';

/** Why a connection could not be opened last time, for whoever asks how it stands. */
export interface OpenFailures {
  note(server: string, principal: string | undefined, failure: UpstreamError): void;
  clear(server: string, principal: string | undefined): void;
  code(server: string, principal: string | undefined): ErrorCode | undefined;
  sweep(): void;
}

export function createOpenFailures(clock: Clock, limits: ConnectionLimits): OpenFailures {
  const failures = new Map<string, { readonly code: ErrorCode; readonly at: number }>();
  const keyOf = (server: string, principal: string | undefined) =>
    JSON.stringify([server, principal ?? null]);

  return {
    note(server, principal, { code }) {
      const key = keyOf(server, principal);
      failures.delete(key);
      if (failures.size >= limits.remembered) failures.delete(failures.keys().next().value as string);
      failures.set(key, { code, at: clock.now() });
    },
    clear: (server, principal) => void (failures.size > 0 && failures.delete(keyOf(server, principal))),
    code: (server, principal) => failures.get(keyOf(server, principal))?.code,
    sweep() {
      const old = clock.now() - limits.idleMs;
      for (const [key, { at }] of failures) if (at < old) failures.delete(key);
    },
  };
}
