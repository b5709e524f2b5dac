import { type Clock, LruMap, withTimeout } from '@behalf/kernel';
import type { Audit } from '../audit/audit.ts';
import { type ChangeFeed, MAX_STALENESS_MS, type UserRecord, type UserStore } from '../ports/index.ts';
import { createReplicatedCache } from '../replication/replicatedCache.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { Log } from '../upstream/upstream.ts';
import type { Roles } from './roles.ts';

/**
 * Decides whether callers' tokens may be exchanged for a server (On-Behalf-Of). The author of a server is the user who last
 * changed its security fields, and so decided where the tokens go.
 *
 * Invariants:
 * - Servers of the operator are trusted. Other servers are trusted while the author's account is active and the author's
 *   current role has CONFIGURE_OBO.
 * - The account and the roles are at most two seconds old. If either is unknown, the server is not trusted.
 * - A role that a token assigned counts only for `authorMaxAgeMs` after a token last confirmed it. The gateway sees a
 *   token only when its owner connects: without this limit, the role of a user who left would count forever.
 */
export interface OboTrust {
  /**
   * No I/O while the cached account is current, so that every exchange can call it with the current snapshot. Never
   * rejects: an unknown answer is false.
   */
  isTrusted(server: ServerSnapshot): boolean | Promise<boolean>;
  close(): void;
}

export interface OboTrustParts {
  readonly users: Pick<UserStore, 'findById'>;
  readonly roles: Pick<Roles, 'roleHasPermission' | 'isFresh' | 'refresh'>;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  /** How long a role from a token counts without another token that confirms it. */
  readonly authorMaxAgeMs: number;
  readonly log: Log;
  readonly audit: Pick<Audit, 'note'>;
}

const MAX_AUTHORS = 10_000;
/** The account and the roles are read again if either changes during the read. */
const MAX_READS = 3;
/** How far the clock of an issuer may be ahead. */
const MAX_CLOCK_SKEW_MS = 5 * 60 * 1000;

export function createOboTrust(parts: OboTrustParts): OboTrust {
  const { users, roles, changes, clock, authorMaxAgeMs } = parts;
  const warnBeforeExpiry = createExpiryWarning(parts);
  const authors = createReplicatedCache<UserRecord | null>({
    changes,
    clock,
    maxEntries: MAX_AUTHORS,
    affectedBy({ topic, id }) {
      if (topic !== 'users') return undefined;
      return id === '*' ? 'all' : { key: id };
    },
    // A token that confirms a role publishes no change, so an expired author is read again after two seconds.
    isUsable: (author, readAt) =>
      author === null || getRemainingMs(author) > 0 || clock.now() - readAt < MAX_STALENESS_MS,
  });

  function isTrusted(server: ServerSnapshot): boolean | Promise<boolean> {
    const { source, securityDecision } = server;
    if (source === 'yaml') return true;
    if (!securityDecision?.isIntact) return false;
    const { decidedBy } = securityDecision;
    // The override leaves the operator's security fields unchanged. A user's server has no such fields.
    if (decidedBy === null) return source === 'config';
    const author = getCurrentAuthor(decidedBy);
    if (author !== undefined) return isAuthorTrusted(author, server);
    // A later answer would be older than two seconds.
    return withTimeout(clock, MAX_STALENESS_MS, readTrust(decidedBy, server), () => false);
  }

  /** The cached account; null if it does not exist. Undefined unless both the account and the roles are current. */
  function getCurrentAuthor(userId: string): UserRecord | null | undefined {
    return roles.isFresh() ? authors.get(userId) : undefined;
  }

  async function readTrust(userId: string, server: ServerSnapshot): Promise<boolean> {
    try {
      for (let reads = 0; reads < MAX_READS; reads += 1) {
        await Promise.all([
          authors.read(userId, () => users.findById(userId)),
          roles.isFresh() ? undefined : roles.refresh(),
        ]);
        // Undefined if the account or the roles changed during the read, or if the read took too long.
        const author = getCurrentAuthor(userId);
        if (author !== undefined) return isAuthorTrusted(author, server);
      }
      return false;
    } catch {
      return false;
    }
  }

  function isAuthorTrusted(author: UserRecord | null, server: ServerSnapshot): boolean {
    const { tenant } = server;
    if (author?.tenant !== tenant || author.disabledAt !== null) return false;
    if (!roles.roleHasPermission(tenant, author.role, 'CONFIGURE_OBO')) return false;
    const remainingMs = getRemainingMs(author);
    warnBeforeExpiry(author, server, remainingMs);
    return remainingMs > 0;
  }

  /** The time for which the author's role still counts. */
  function getRemainingMs({ roleSource, roleConfirmedAt }: UserRecord): number {
    // An administrator assigned the role.
    if (roleSource === 'manual') return Infinity;
    const now = clock.now();
    // A time in the future would extend the limit.
    if (roleConfirmedAt === null || roleConfirmedAt > now + MAX_CLOCK_SKEW_MS) return 0;
    return roleConfirmedAt + authorMaxAgeMs - now;
  }

  return { isTrusted, close: () => authors.close() };
}

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const WARN_BEFORE_MS = 3 * DAY_MS;

/** Warns administrators once a day per author, before and after the author's role expires. */
function createExpiryWarning({ clock, authorMaxAgeMs, log, audit }: OboTrustParts) {
  // With a short limit, three days could be the whole time.
  const warnBeforeMs = Math.min(WARN_BEFORE_MS, authorMaxAgeMs / 4);
  const lastWarnings = new LruMap<string, { readonly event: string; readonly at: number }>(MAX_AUTHORS);

  return ({ id, tenant }: UserRecord, server: ServerSnapshot, remainingMs: number): void => {
    if (remainingMs > warnBeforeMs) return;
    const isExpired = remainingMs <= 0;
    const event = isExpired ? 'obo_author_expired' : 'obo_author_expiring';
    const last = lastWarnings.get(id);
    const now = clock.now();
    if (last?.event === event && now - last.at < DAY_MS) return;
    lastWarnings.set(id, { event, at: now });
    const hoursLeft = Math.max(0, Math.floor(remainingMs / HOUR_MS));
    log(event, { tenant, author: id, server: server.name, hoursLeft });
    audit.note({
      kind: 'permission',
      action: isExpired ? 'obo.author_expired' : 'obo.author_expiring',
      tenant,
      actor: { kind: 'gateway', id: '' },
      door: 'gateway',
      outcome: isExpired ? 'refused' : 'ok',
      server: server.name,
      serverId: server.id,
      subject: id,
    });
  };
}
