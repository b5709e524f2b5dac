import type { ConversationView } from '@behalf/contracts';
import { createSession, type Session, type SessionParts } from './session.ts';

/** The conversations that were opened on this page. */
export interface Sessions {
  /** The one that has not begun yet. */
  fresh(): Session;
  get(id: string): Session | undefined;
  open(view: ConversationView): Session;
  forget(id: string): void;
  /** Somebody has signed in at this server: answers that wait for that go on. */
  connected(server: string): void;
}

/** Beyond that the ones that were opened first are read again when somebody comes back to them. */
const MOST = 20;

export function createSessions(parts: SessionParts): Sessions {
  const known = new Map<string, Session>();
  let unbegun: Session | undefined;

  function keep(id: string, session: Session): Session {
    known.set(id, session);
    for (const [other, { state }] of known) {
      if (known.size <= MOST) break;
      if (other !== id && state.get().writing !== 'here') known.delete(other);
    }
    return session;
  }

  const own: SessionParts = {
    ...parts,
    onBegun(session, summary) {
      keep(summary.id, session);
      if (unbegun === session) unbegun = undefined;
      parts.onBegun(session, summary);
    },
  };

  return {
    fresh: () => (unbegun ??= createSession(own)),
    get: (id) => known.get(id),
    open: (view) => known.get(view.id) ?? keep(view.id, createSession(own, view)),
    forget: (id) => void known.delete(id),
    connected(server) {
      for (const session of known.values()) session.connected(server);
    },
  };
}
