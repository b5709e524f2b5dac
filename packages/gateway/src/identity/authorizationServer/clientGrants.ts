import type { Clock } from '@behalf/kernel';
import type { SessionRecord, UserRecord } from '../../ports/index.ts';
import { hashSecret } from '../hashSecret.ts';
import type { SignInSessions } from '../signInSessions.ts';

/** How long a client may go on without its user. */
export const GRANT_LIFETIME_MS = 30 * 24 * 60 * 60 * 1000;

/** What users granted to clients: sessions of theirs, so that whatever ends a sign-in or an account ends these too. */
export interface ClientGrants {
  create(user: Pick<UserRecord, 'id' | 'tenant'>, grant: ClientGrantInput): Promise<void>;
  /** Null when it ended. */
  find(grantId: string): Promise<SessionRecord | null>;
  end(grantId: string): Promise<void>;
  /** All that this user granted to this client. */
  endForClient(userId: string, clientId: string): Promise<void>;
}

export interface ClientGrantInput {
  readonly grantId: string;
  readonly clientId: string;
  /** The session during which it was granted; empty where there was none. */
  readonly from: string;
  readonly groups: readonly string[];
  readonly lifetimeMs?: number;
}

/** The session's hash. Never that of a cookie: an id of a grant is no secret, and must not be worth one. */
export function grantSessionHash(grantId: string): string {
  return hashSecret(`grant:${grantId}`);
}

export function createClientGrants(parts: {
  readonly sessions: Pick<SignInSessions, 'grant' | 'find' | 'list' | 'endByHash'>;
  readonly clock: Clock;
}): ClientGrants {
  const { sessions, clock } = parts;
  const find = (grantId: string) => sessions.find(grantSessionHash(grantId));
  return {
    async create(user, { grantId, clientId, from, groups, lifetimeMs = GRANT_LIFETIME_MS }) {
      const expiresAt = clock.now() + lifetimeMs;
      const hash = grantSessionHash(grantId);
      await sessions.grant(user, { hash, groups, expiresAt, grant: { clientId, from } });
    },
    find,
    async end(grantId) {
      const session = await find(grantId);
      if (session) await sessions.endByHash(session.userId, session.hash);
    },
    async endForClient(userId, clientId) {
      for (const { hash, grant } of await sessions.list(userId)) {
        if (grant?.clientId === clientId) await sessions.endByHash(userId, hash);
      }
    },
  };
}
