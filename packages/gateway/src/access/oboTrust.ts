import { withTimeout } from '@behalf/kernel';
import { isCurrent, MAX_STALENESS_MS, type ChangeFeed, type UserStore } from '../ports/index.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { createOboAuthors, type OboAuthor, type OboAuthorParts } from './oboTrustAuthor.ts';
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
