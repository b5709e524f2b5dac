import type { Clock } from '@behalf/kernel';
import type { SessionRecord, UserRecord } from '../../ports/index.ts';
import { secretHash } from '../secretHash.ts';
import type { Sessions } from '../sessions.ts';

/** How long a client may go on without its user. */
export const GRANT_LIFETIME_MS = 30 * 24 * 60 * 60 * 1000;

/** What users granted to clients: sessions of theirs, so that whatever ends a sign-in or an account ends these too. */
export interface ClientGrants {
  begin(user: Pick<UserRecord, 'id' | 'tenant'>, grant: NewGrant): Promise<void>;
  /** Null when it ended. */
  find(grantId: string): Promise<SessionRecord | null>;
  end(grantId: string): Promise<void>;
  /** All that this user granted to this client. */
  endOf(userId: string, clientId: string): Promise<void>;
}

export interface NewGrant {
  readonly grantId: string;
  readonly clientId: string;
  /** The session during which it was granted; empty where there was none. */
  readonly from: string;
  readonly groups: readonly string[];
  readonly lifetimeMs?: number;
}

/** The session's hash. Never that of a cookie: an id of a grant is no secret, and must not be worth one. */
export function grantSession(grantId: string): string {
  return secretHash(`grant:${grantId}`);
}

export function createClientGrants(parts: {
  readonly sessions: Pick<Sessions, 'grant' | 'find' | 'list' | 'endOf'>;
  readonly clock: Clock;
}): ClientGrants {
  const { sessions, clock } = parts;
  const find = (grantId: string) => sessions.find(grantSession(grantId));
  return {
    async begin(user, { grantId, clientId, from, groups, lifetimeMs = GRANT_LIFETIME_MS }) {
      const expiresAt = clock.now() + lifetimeMs;
      const hash = grantSession(grantId);
      await sessions.grant(user, { hash, groups, expiresAt, grant: { clientId, from } });
    },
    find,
    async end(grantId) {
      const session = await find(grantId);
      if (session) await sessions.endOf(session.userId, session.hash);
    },
    async endOf(userId, clientId) {
      for (const { hash, grant } of await sessions.list(userId)) {
        if (grant?.clientId === clientId) await sessions.endOf(userId, hash);
      }
    },
  };
}
