import { within } from '@behalf/kernel';
import { isCurrent, STALENESS_MS, type ChangeFeed, type UserStore } from '../ports/index.ts';
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
  readonly roles: Pick<Roles, 'roleHas' | 'isFresh' | 'refresh'>;
  readonly changes: ChangeFeed;
}

type Editor = OboAuthor | null;

interface Known {
  readonly editor: Editor;
  readonly readAt: number;
}

const MOST_EDITORS = 10_000;
/** How often somebody who is changed at this very moment is read again. */
const MOST_READS = 3;

export function createOboTrust(parts: OboTrustParts): OboTrust {
  const { users, roles, changes, clock } = parts;
  const authors = createOboAuthors(parts);
  const known = new Map<string, Known>();
  /** Under way. A notice takes them out: what they bring may be what it told about. */
  const reading = new Map<string, { readonly readAt: number; readonly done: Promise<void> }>();
  const close = changes.subscribe(({ topic, id }) => {
    if (topic !== 'users') return;
    if (id === '*') reading.clear();
    reading.delete(id);
    if (id === '*') known.clear();
    else known.delete(id);
  });

  /** Together with whoever asks about the same person, unless that began too long ago to be of use. */
  function read(userId: string): Promise<void> {
    const readAt = clock.now();
    const under = reading.get(userId);
    if (under && readAt - under.readAt < STALENESS_MS) return under.done;
    const done = users
      .findById(userId)
      .then((editor) => {
        if (reading.get(userId) !== begun) return;
        if (known.size >= MOST_EDITORS) known.delete(known.keys().next().value ?? '');
        known.set(userId, { editor, readAt });
      })
      .finally(() => {
        if (reading.get(userId) === begun) reading.delete(userId);
      });
    const begun = { readAt, done };
    reading.set(userId, begun);
    return done;
  }

  /** What may still be relied upon, of the person and of the roles. */
  function current(userId: string): Known | undefined {
    const entry = known.get(userId);
    return entry && roles.isFresh() && isCurrent(changes, clock.now(), entry.readAt) ? entry : undefined;
  }

  function mayConfigure(editor: Editor, server: ServerSnapshot): boolean {
    const { tenant } = server;
    if (editor?.tenant !== tenant || editor.disabledAt !== null) return false;
    if (!roles.roleHas(tenant, editor.role, 'CONFIGURE_OBO')) return false;
    const timeLeft = authors.timeLeft(editor);
    authors.watch(editor, server, timeLeft);
    return timeLeft > 0;
  }

  /** Nobody gives notice when a token confirms a role anew: who has run out is looked at again. */
  function isDated({ editor, readAt }: Known): boolean {
    return editor !== null && authors.timeLeft(editor) <= 0 && clock.now() - readAt >= STALENESS_MS;
  }

  async function ask(userId: string, server: ServerSnapshot): Promise<boolean> {
    try {
      for (let reads = 0; reads < MOST_READS; reads += 1) {
        // What roles allowed a while ago is good enough for other calls, not for handing out tokens.
        await Promise.all([read(userId), roles.isFresh() ? undefined : roles.refresh()]);
        // A store that took its time, or a change meanwhile: an old answer is none.
        const entry = current(userId);
        if (entry) return mayConfigure(entry.editor, server);
      }
      return false;
    } catch {
      return false;
    }
  }

  return {
    isTrusted(server) {
      const { source, secured } = server;
      if (source === 'yaml') return true;
      if (!secured?.intact) return false;
      const { by } = secured;
      // An override that leaves alone what the operator decided. Of a user's server nothing is the operator's.
      if (by === null) return source === 'config';
      const entry = current(by);
      if (entry && !isDated(entry)) return mayConfigure(entry.editor, server);
      // An answer that comes later would be too old to count.
      return within(clock, STALENESS_MS, ask(by, server), () => false);
    },
    close,
  };
}
