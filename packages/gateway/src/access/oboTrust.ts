import { type Clock, withTimeout } from '@behalf/kernel';
import type { Audit } from '../audit/audit.ts';
import {
  type ChangeFeed,
  MAX_STALENESS_MS,
  type UserRecord,
  type UserStore,
  isCurrent,
} from '../ports/index.ts';
import type { ServerSnapshot } from '../servers/definition.ts';
import type { Log } from '../upstream/upstream.ts';
import type { Roles } from './roles.ts';

/**
 * Whether callers' own tokens may be exchanged for a server. Who decides where it leads decides where they go: the operator
 * is trusted, and a user or an administrator of a tenant for as long as their role has CONFIGURE_OBO. Whatever is not known
 * to be so is not trusted.
 */
export interface OboTrust {
  /**
   * Without I/O for as long as an answer may be trusted, so it can be asked again before each use of a token: of the
   * server as the registry has it then, because who answers for it may be somebody else by now. Never rejects: no answer
   * means no.
   */
  isTrusted(server: ServerSnapshot): boolean | Promise<boolean>;
  close(): void;
}

/** Among them for how long a role that a token gave counts: without that nobody can be trusted. */
export interface OboTrustParts extends OboAuthorParts {
  readonly users: Pick<UserStore, 'findById'>;
  readonly roles: Pick<Roles, 'roleHasPermission' | 'isFresh' | 'refresh'>;
  readonly changes: ChangeFeed;
}

type Editor = OboAuthor | null;

interface CachedEditor {
  readonly editor: Editor;
  readonly readAt: number;
}

const MAX_EDITORS = 10_000;
/** How often somebody who is changed at this very moment is read again. */
const MAX_READS = 3;

export function createOboTrust(parts: OboTrustParts): OboTrust {
  const { users, roles, changes, clock } = parts;
  const authors = createOboAuthors(parts);
  const cache = new Map<string, CachedEditor>();
  /** Under way. A notice takes them out: what they bring may be what it told about. */
  const pendingReads = new Map<string, { readonly readAt: number; readonly done: Promise<void> }>();
  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'users') return;
    if (id === '*') pendingReads.clear();
    pendingReads.delete(id);
    if (id === '*') cache.clear();
    else cache.delete(id);
  });

  /** Together with whoever asks about the same person, unless that began too long ago to be of use. */
  function read(userId: string): Promise<void> {
    const readAt = clock.now();
    const existing = pendingReads.get(userId);
    if (existing && readAt - existing.readAt < MAX_STALENESS_MS) return existing.done;
    const done = users
      .findById(userId)
      .then((editor) => {
        if (pendingReads.get(userId) !== pendingRead) return;
        if (cache.size >= MAX_EDITORS) cache.delete(cache.keys().next().value ?? '');
        cache.set(userId, { editor, readAt });
      })
      .finally(() => {
        if (pendingReads.get(userId) === pendingRead) pendingReads.delete(userId);
      });
    const pendingRead = { readAt, done };
    pendingReads.set(userId, pendingRead);
    return done;
  }

  /** What may still be relied upon, of the person and of the roles. */
  function findFresh(userId: string): CachedEditor | undefined {
    const entry = cache.get(userId);
    return entry && roles.isFresh() && isCurrent(changes, clock.now(), entry.readAt) ? entry : undefined;
  }

  function canConfigure(editor: Editor, server: ServerSnapshot): boolean {
    const { tenant } = server;
    if (editor?.tenant !== tenant || editor.disabledAt !== null) return false;
    if (!roles.roleHasPermission(tenant, editor.role, 'CONFIGURE_OBO')) return false;
    const remainingMs = authors.getRemainingMs(editor);
    authors.warnBeforeExpiry(editor, server, remainingMs);
    return remainingMs > 0;
  }

  /** Nobody gives notice when a token confirms a role anew: who has run out is looked at again. */
  function isOutdated({ editor, readAt }: CachedEditor): boolean {
    return editor !== null && authors.getRemainingMs(editor) <= 0 && clock.now() - readAt >= MAX_STALENESS_MS;
  }

  async function checkTrust(userId: string, server: ServerSnapshot): Promise<boolean> {
    try {
      for (let reads = 0; reads < MAX_READS; reads += 1) {
        // What roles allowed a while ago is good enough for other calls, not for handing out tokens.
        await Promise.all([read(userId), roles.isFresh() ? undefined : roles.refresh()]);
        // A store that took its time, or a change meanwhile: an old answer is none.
        const entry = findFresh(userId);
        if (entry) return canConfigure(entry.editor, server);
      }
      return false;
    } catch {
      return false;
    }
  }

  return {
    isTrusted(server) {
      const { source, securityDecision } = server;
      if (source === 'yaml') return true;
      if (!securityDecision?.isIntact) return false;
      const { decidedBy } = securityDecision;
      // An override that leaves alone what the operator decided. Of a user's server nothing is the operator's.
      if (decidedBy === null) return source === 'config';
      const entry = findFresh(decidedBy);
      if (entry && !isOutdated(entry)) return canConfigure(entry.editor, server);
      // An answer that comes later would be too old to count.
      return withTimeout(clock, MAX_STALENESS_MS, checkTrust(decidedBy, server), () => false);
    },
    close: unsubscribe,
  };
}

/** Who last decided where a server leads, as far as that matters for handing out tokens. */
type OboAuthor = Pick<UserRecord, 'id' | 'tenant' | 'role' | 'roleSource' | 'roleConfirmedAt' | 'disabledAt'>;

interface OboAuthors {
  /** Milliseconds for which their role counts from now on; none: zero or less. */
  getRemainingMs(author: OboAuthor): number;
  /** Tells administrators when that is not much any more, once a day and author. */
  warnBeforeExpiry(author: OboAuthor, server: ServerSnapshot, remainingMs: number): void;
}

interface OboAuthorParts {
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
function createOboAuthors({ clock, authorMaxAgeMs, log, audit }: OboAuthorParts): OboAuthors {
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
