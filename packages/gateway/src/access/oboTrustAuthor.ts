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
  timeLeft(author: OboAuthor): number;
  /** Tells administrators when that is not much any more, once a day and author. */
  watch(author: OboAuthor, server: ServerSnapshot, timeLeft: number): void;
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
const WARNED_BEFORE_MS = 3 * DAY_MS;
/** By how much an issuer's clock may be ahead of ours. */
const SKEW_MS = 5 * 60 * 1000;
const MOST_TOLD = 10_000;

/**
 * A token is asked only when its owner comes by. Somebody who has left, or whose role was taken at the identity provider,
 * never comes again: without an end, what their last token said would count for good.
 */
export function createOboAuthors({ clock, authorMaxAgeMs, log, audit }: OboAuthorParts): OboAuthors {
  // Of an age of a few days, three of them would be all of it.
  const warnedBeforeMs = Math.min(WARNED_BEFORE_MS, authorMaxAgeMs / 4);
  const told = new Map<string, { readonly event: string; readonly at: number }>();

  function isNews(author: string, event: string): boolean {
    const last = told.get(author);
    const now = clock.now();
    if (last?.event === event && now - last.at < DAY_MS) return false;
    told.delete(author);
    if (told.size >= MOST_TOLD) told.delete(told.keys().next().value ?? '');
    told.set(author, { event, at: now });
    return true;
  }

  return {
    timeLeft({ roleSource, roleConfirmedAt }) {
      // What an administrator gave stays until an administrator takes it.
      if (roleSource === 'manual') return Infinity;
      const now = clock.now();
      // A time to come confirms nothing: it would count for longer than anything may.
      if (roleConfirmedAt === null || roleConfirmedAt > now + SKEW_MS) return 0;
      return roleConfirmedAt + authorMaxAgeMs - now;
    },
    watch({ id, tenant }, server, timeLeft) {
      if (timeLeft > warnedBeforeMs) return;
      const isOver = timeLeft <= 0;
      const event = isOver ? 'obo_author_expired' : 'obo_author_expiring';
      if (!isNews(id, event)) return;
      const hoursLeft = Math.max(0, Math.floor(timeLeft / HOUR_MS));
      log(event, { tenant, author: id, server: server.name, hoursLeft });
      audit.note({
        ...{ kind: 'permission', action: isOver ? 'obo.author_expired' : 'obo.author_expiring', tenant },
        ...{ actor: { kind: 'gateway', id: '' }, door: 'gateway', outcome: isOver ? 'refused' : 'ok' },
        ...{ server: server.name, serverId: server.id, subject: id },
      });
    },
  };
}
