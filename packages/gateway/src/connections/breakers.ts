import type { Clock } from '@behalf/kernel';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { ConnectionLimits } from './limits.ts';

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
export interface Probe {
  readonly since: number;
}

export interface OpenBreaker {
  readonly retryAt: number;
  /** When the first of these failures was. */
  readonly since: number;
  readonly cause: UpstreamError;
}

/** What fails, open or not yet. */
export interface Failing {
  readonly subject: Pick<BreakerSubject, 'server' | 'principal'>;
  readonly since: number;
  /** Undefined while it is not open. */
  readonly retryAt: number | undefined;
  readonly cause: UpstreamError;
  /** Of the latest failure. */
  readonly at: number;
}

export interface Breakers {
  /** True when nothing failed lately: the warm path need not even make a key. */
  readonly quiet: boolean;
  /** Throws `breaker_open`, or lets the caller pass; as the one probe when the waiting time is over. */
  enter(subject: BreakerSubject, explicit: boolean): Probe | undefined;
  /** The probe ended without a finding: the next caller may try. */
  leave(subject: BreakerSubject, probe: Probe): void;
  succeeded(subject: BreakerSubject): void;
  failed(subject: BreakerSubject, cause: UpstreamError): void;
  /** The open breaker of this server that concerns this principal. */
  find(server: string, principal: string | undefined): OpenBreaker | undefined;
  isOpen(subject: BreakerSubject): boolean;
  all(): Iterable<Failing>;
  readonly open: number;
  sweep(): void;
}

interface Entry extends Failing {
  readonly subject: BreakerSubject;
  failures: number;
  /** How often it opened in a row. */
  trips: number;
  retryAt: number | undefined;
  probe: Probe | undefined;
  cause: UpstreamError;
  at: number;
}

/** Told to those who come while the probe is under way. */
const WHILE_PROBING_MS = 1_000;

/** A breaker exists only while something fails, so that the healthy many cost nothing. */
export function createBreakers(clock: Clock, limits: ConnectionLimits): Breakers {
  const entries = new Map<string, Entry>();

  function current({ key, binding }: BreakerSubject): Entry | undefined {
    const entry = entries.get(key);
    if (!entry || entry.subject.binding === binding) return entry;
    entries.delete(key);
    return undefined;
  }

  function trip(entry: Entry, now: number): void {
    entry.retryAt = now + Math.min(limits.breakerBaseMs * 2 ** entry.trips, limits.breakerMaxMs);
    entry.trips += 1;
    entry.probe = undefined;
  }

  const refusal = (entry: Entry, retryAfterMs: number) =>
    new UpstreamError('breaker_open', { retryAfterMs, cause: entry.cause });

  return {
    get quiet() {
      return entries.size === 0;
    },
    enter(subject, explicit) {
      const entry = current(subject);
      if (entry?.retryAt === undefined) return undefined;
      const now = clock.now();
      if (now < entry.retryAt) {
        if (explicit) return undefined;
        throw refusal(entry, entry.retryAt - now);
      }
      // A probe that hangs must not keep everybody out for as long as it likes.
      if (entry.probe && now - entry.probe.since < limits.breakerBaseMs) {
        if (explicit) return undefined;
        throw refusal(entry, WHILE_PROBING_MS);
      }
      entry.probe = { since: now };
      return entry.probe;
    },
    leave({ key }, probe) {
      const entry = entries.get(key);
      if (entry?.probe === probe) entry.probe = undefined;
    },
    succeeded(subject) {
      if (current(subject)) entries.delete(subject.key);
    },
    failed(subject, cause) {
      const now = clock.now();
      let entry = current(subject);
      if (!entry) {
        if (entries.size >= limits.remembered) entries.delete(entries.keys().next().value as string);
        const fresh = { failures: 0, trips: 0, retryAt: undefined, probe: undefined };
        entry = { subject, ...fresh, cause, since: now, at: now };
        entries.set(subject.key, entry);
      }
      entry.failures += 1;
      entry.cause = cause;
      entry.at = now;
      // While it waits, late news and explicit attempts do not prolong the wait: one user's retries are not the others' loss.
      if (entry.retryAt === undefined ? entry.failures >= limits.breakerFailures : now >= entry.retryAt) {
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
    isOpen: (subject) => current(subject)?.retryAt !== undefined,
    all: () => entries.values(),
    get open() {
      let open = 0;
      for (const { retryAt } of entries.values()) if (retryAt !== undefined) open += 1;
      return open;
    },
    sweep() {
      const old = clock.now() - 2 * limits.breakerMaxMs;
      for (const [key, entry] of entries) if (entry.at < old && !entry.probe) entries.delete(key);
    },
  };
}
