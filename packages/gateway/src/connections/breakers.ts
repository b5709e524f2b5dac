import type { Clock } from '@behalf/kernel';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { ConnectionLimits } from './connectionManager.ts';

/** What a breaker is for. Two subjects with one key share it. */
export interface BreakerSubject {
  readonly key: string;
  readonly server: string;
  /** Undefined when it concerns everybody. */
  readonly principal?: string | undefined;
  /** What failed; another one deserves a fresh start. */
  readonly binding?: string | undefined;
}

/** The right to try whether the trouble is over. */
export interface BreakerProbe {
  readonly since: number;
}

interface OpenBreaker {
  readonly retryAt: number;
  /** When the first of these failures was. */
  readonly since: number;
  readonly cause: UpstreamError;
}

/** What fails, open or not yet. */
interface BreakerState {
  readonly subject: Pick<BreakerSubject, 'server' | 'principal'>;
  readonly since: number;
  /** Undefined while it is not open. */
  readonly retryAt: number | undefined;
  readonly cause: UpstreamError;
  /** Of the latest failure. */
  readonly lastFailureAt: number;
}

export interface Breakers {
  /** True when nothing failed lately: the warm path need not even make a key. */
  readonly isEmpty: boolean;
  /** Throws `breaker_open`, or lets the caller pass; as the one probe when the waiting time is over. */
  admit(subject: BreakerSubject, bypassesBreaker: boolean): BreakerProbe | undefined;
  /** The probe ended without a finding: the next caller may try. */
  releaseProbe(subject: BreakerSubject, probe: BreakerProbe): void;
  recordSuccess(subject: BreakerSubject): void;
  recordFailure(subject: BreakerSubject, cause: UpstreamError): void;
  /** The open breaker of this server that concerns this principal. */
  find(server: string, principal: string | undefined): OpenBreaker | undefined;
  isOpen(subject: BreakerSubject): boolean;
  list(): Iterable<BreakerState>;
  readonly openCount: number;
  sweep(): void;
}

interface BreakerEntry extends BreakerState {
  readonly subject: BreakerSubject;
  failures: number;
  /** How often it opened in a row. */
  trips: number;
  retryAt: number | undefined;
  probe: BreakerProbe | undefined;
  cause: UpstreamError;
  lastFailureAt: number;
}

/** Told to those who come while the probe is under way. */
const PROBE_RETRY_AFTER_MS = 1_000;

/** A breaker exists only while something fails, so that the healthy many cost nothing. */
export function createBreakers(clock: Clock, limits: ConnectionLimits): Breakers {
  const entries = new Map<string, BreakerEntry>();

  function findEntry({ key, binding }: BreakerSubject): BreakerEntry | undefined {
    const entry = entries.get(key);
    if (!entry || entry.subject.binding === binding) return entry;
    entries.delete(key);
    return undefined;
  }

  function trip(entry: BreakerEntry, now: number): void {
    entry.retryAt = now + Math.min(limits.breakerBaseMs * 2 ** entry.trips, limits.breakerMaxMs);
    entry.trips += 1;
    entry.probe = undefined;
  }

  const createOpenError = (entry: BreakerEntry, retryAfterMs: number) =>
    new UpstreamError('breaker_open', { retryAfterMs, cause: entry.cause });

  return {
    get isEmpty() {
      return entries.size === 0;
    },
    admit(subject, bypassesBreaker) {
      const entry = findEntry(subject);
      if (entry?.retryAt === undefined) return undefined;
      const now = clock.now();
      if (now < entry.retryAt) {
        if (bypassesBreaker) return undefined;
        throw createOpenError(entry, entry.retryAt - now);
      }
      // A probe that hangs must not keep everybody out for as long as it likes.
      if (entry.probe && now - entry.probe.since < limits.breakerBaseMs) {
        if (bypassesBreaker) return undefined;
        throw createOpenError(entry, PROBE_RETRY_AFTER_MS);
      }
      entry.probe = { since: now };
      return entry.probe;
    },
    releaseProbe({ key }, probe) {
      const entry = entries.get(key);
      if (entry?.probe === probe) entry.probe = undefined;
    },
    recordSuccess(subject) {
      if (findEntry(subject)) entries.delete(subject.key);
    },
    recordFailure(subject, cause) {
      const now = clock.now();
      let entry = findEntry(subject);
      if (!entry) {
        if (entries.size >= limits.maxEntries) entries.delete(entries.keys().next().value as string);
        const initialState = { failures: 0, trips: 0, retryAt: undefined, probe: undefined };
        entry = { subject, ...initialState, cause, since: now, lastFailureAt: now };
        entries.set(subject.key, entry);
      }
      entry.failures += 1;
      entry.cause = cause;
      entry.lastFailureAt = now;
      // While it waits, late news and explicit attempts do not prolong the wait: one user's retries are not the others' loss.
      if (entry.retryAt === undefined ? entry.failures >= limits.breakerThreshold : now >= entry.retryAt) {
        trip(entry, now);
      }
    },
    find(server, principal) {
      let found: OpenBreaker | undefined;
      for (const { subject, retryAt, since, cause } of entries.values()) {
        if (retryAt === undefined || subject.server !== server) continue;
        if (subject.principal !== undefined && subject.principal !== principal) continue;
        if (!found || retryAt > found.retryAt) found = { retryAt, since, cause };
      }
      return found;
    },
    isOpen: (subject) => findEntry(subject)?.retryAt !== undefined,
    list: () => entries.values(),
    get openCount() {
      let count = 0;
      for (const { retryAt } of entries.values()) if (retryAt !== undefined) count += 1;
      return count;
    },
    sweep() {
      const cutoff = clock.now() - 2 * limits.breakerMaxMs;
      for (const [key, entry] of entries)
        if (entry.lastFailureAt < cutoff && !entry.probe) entries.delete(key);
    },
  };
}
