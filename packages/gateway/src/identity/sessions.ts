import type { Clock, Random } from '@behalf/kernel';
import type { ChangeFeed, SessionStore, UserRecord, UserStore } from '../ports/index.ts';
import { principalOf, type UserPrincipal } from '../principal/principal.ts';
import { secretHash } from './secretHash.ts';

export const SESSION_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

export interface IssuedSession {
  /** For the cookie, and for nothing else. */
  secret: string;
  expiresAt: number;
}

/** Browser sign-ins. */
export interface Sessions {
  start(user: UserRecord): Promise<IssuedSession>;
  /** Who holds this cookie now: a session of a deleted user is nobody's. */
  resolve(secret: string): Promise<UserPrincipal | null>;
  end(secret: string): Promise<void>;
  sweep(): Promise<number>;
}

export interface SessionParts {
  sessions: SessionStore;
  users: UserStore;
  changes: ChangeFeed;
  clock: Clock;
  random: Random;
}

export function createSessions({ sessions, users, changes, clock, random }: SessionParts): Sessions {
  return {
    async start(user) {
      const secret = Buffer.from(random.bytes(32)).toString('base64url');
      const now = clock.now();
      const expiresAt = now + SESSION_LIFETIME_MS;
      await sessions.insert({
        hash: secretHash(secret),
        userId: user.id,
        tenant: user.tenant,
        createdAt: now,
        expiresAt,
      });
      return { secret, expiresAt };
    },
    async resolve(secret) {
      const session = await sessions.find(secretHash(secret), clock.now());
      const user = session && (await users.findById(session.userId));
      return user ? principalOf(user) : null;
    },
    async end(secret) {
      const hash = secretHash(secret);
      if (await sessions.remove(hash)) await changes.publish({ topic: 'sessions', id: hash });
    },
    sweep: () => sessions.removeExpired(clock.now()),
  };
}
