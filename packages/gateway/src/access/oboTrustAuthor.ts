import type { Clock } from '@behalf/kernel';
import type { Audit } from '../audit/audit.ts';
import type { UserRecord } from '../ports/index.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Log } from '../upstream/parts.ts';

/** Who last decided where a server leads, as far as that matters for handing out tokens. */
export type OboAuthor = Pick<
  UserRecord,
  'id' | 'tenant' | 'role' | 'roleSource' | 'roleConfirmedAt' | 'disabledAt'
>;

export interface OboAuthors {
  /** Milliseconds for which their role counts from now on; none: zero or less. */
  getRemainingMs(author: OboAuthor): number;
  /** Tells administrators when that is not much any more, once a day and author. */
  warnBeforeExpiry(author: OboAuthor, server: ServerSnapshot, remainingMs: number): void;
}

export interface OboAuthorParts {
  readonly clock: Clock;
  /** For how long a role that a token gave counts without another token that says the same. */
  readonly authorMaxAgeMs: number;
  readonly log: Log;
  readonly audit: Pick<Audit, 'note'>;
}

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const WARN_BEFORE_MS = 3 * DAY_MS;
/** By how much an issuer's clock may be ahead of ours. */
const MAX_CLOCK_SKEW_MS = 5 * 60 * 1000;
const MAX_REPORTED = 10_000;

/**
 * A token is asked only when its owner comes by. Somebody who has left, or whose role was taken at the identity provider,
 * never comes again: without an end, what their last token said would count for good.
 */
export function createOboAuthors({ clock, authorMaxAgeMs, log, audit }: OboAuthorParts): OboAuthors {
  // Of an age of a few days, three of them would be all of it.
  const warnBeforeMs = Math.min(WARN_BEFORE_MS, authorMaxAgeMs / 4);
  const lastReported = new Map<string, { readonly event: string; readonly at: number }>();

  function shouldReport(author: string, event: string): boolean {
    const last = lastReported.get(author);
    const now = clock.now();
    if (last?.event === event && now - last.at < DAY_MS) return false;
    lastReported.delete(author);
    if (lastReported.size >= MAX_REPORTED) lastReported.delete(lastReported.keys().next().value ?? '');
    lastReported.set(author, { event, at: now });
    return true;
  }

  return {
    getRemainingMs({ roleSource, roleConfirmedAt }) {
      // What an administrator gave stays until an administrator takes it.
      if (roleSource === 'manual') return Infinity;
      const now = clock.now();
      // A time to come confirms nothing: it would count for longer than anything may.
      if (roleConfirmedAt === null || roleConfirmedAt > now + MAX_CLOCK_SKEW_MS) return 0;
      return roleConfirmedAt + authorMaxAgeMs - now;
    },
    warnBeforeExpiry({ id, tenant }, server, remainingMs) {
      if (remainingMs > warnBeforeMs) return;
      const isExpired = remainingMs <= 0;
      const event = isExpired ? 'obo_author_expired' : 'obo_author_expiring';
      if (!shouldReport(id, event)) return;
      const hoursLeft = Math.max(0, Math.floor(remainingMs / HOUR_MS));
      log(event, { tenant, author: id, server: server.name, hoursLeft });
      audit.note({
        ...{ kind: 'permission', action: isExpired ? 'obo.author_expired' : 'obo.author_expiring', tenant },
        ...{ actor: { kind: 'gateway', id: '' }, door: 'gateway', outcome: isExpired ? 'refused' : 'ok' },
        ...{ server: server.name, serverId: server.id, subject: id },
      });
    },
  };
}
