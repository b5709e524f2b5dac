import type { ConversationView } from '@behalf/contracts';
import { createSession, type Session, type SessionParts } from './session.ts';

/** Sessions that were opened on this page. */
export interface Sessions {
  /** Returns the session of the new conversation. */
  openNew(): Session;
  get(id: string): Session | undefined;
  open(view: ConversationView): Session;
  forget(id: string): void;
  /** Resumes calls that wait for a sign-in at this server. */
  resumeAfterConnect(server: string): void;
}

/** Maximum number of cached sessions. Beyond it, the oldest sessions without a running answer are removed. */
const MAX_SESSIONS = 20;

export function createSessions(parts: SessionParts): Sessions {
  const sessionsById = new Map<string, Session>();
  let newSession: Session | undefined;

  function cacheSession(id: string, session: Session): Session {
    sessionsById.set(id, session);
    for (const [otherId, { state }] of sessionsById) {
      if (sessionsById.size <= MAX_SESSIONS) break;
      if (otherId !== id && state.get().answering !== 'local') sessionsById.delete(otherId);
    }
    return session;
  }

  const sessionParts: SessionParts = {
    ...parts,
    onStarted(session, summary) {
      cacheSession(summary.id, session);
      if (newSession === session) newSession = undefined;
      parts.onStarted(session, summary);
    },
  };

  return {
    openNew: () => (newSession ??= createSession(sessionParts)),
    get: (id) => sessionsById.get(id),
    open: (view) => sessionsById.get(view.id) ?? cacheSession(view.id, createSession(sessionParts, view)),
    forget: (id) => void sessionsById.delete(id),
    resumeAfterConnect(server) {
      for (const session of sessionsById.values()) session.resumeAfterConnect(server);
    },
  };
}
