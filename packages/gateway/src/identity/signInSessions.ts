import type { Clock, Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type {
  ChangeFeed,
  CredentialKey,
  CredentialStore,
  SessionRecord,
  SessionStore,
  UserRecord,
  UserStore,
} from '../ports/index.ts';
import { isActiveUser, toPrincipal } from '../principal/principal.ts';
import type { ResolvedCaller } from './callerCache.ts';
import { generateSecret, hashSecret } from './hashSecret.ts';

/**
 * Sessions of browsers, and the grants that users give to OAuth clients (a grant is a session without a cookie).
 *
 * Invariants:
 * - The store has only the hash of a session secret.
 * - The tokens of a session end before the session does. A failure in between leaves a session without tokens, never tokens
 *   without a session.
 * - A grant that is created while its sign-in session ends is ended, too: `grant` checks the session after the insert, and a
 *   sign-out reads the grants again after it removed the session.
 * - A sign-out reaches every replica through the change feed and through `signedOutAt` of the user.
 */

export const SESSION_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

export interface IssuedSession {
  /** The value of the cookie. */
  secret: string;
  /** The id of the session in the store, in keys and in events. */
  hash: string;
  expiresAt: number;
}

/** The sign-in method, and the groups in the token of the identity provider. */
type SignInDetails = Pick<SessionRecord, 'via' | 'groups'>;

export interface SignInSessions {
  start(user: UserRecord, details?: SignInDetails): Promise<IssuedSession>;
  /**
   * Stores the grant of a user to a client as a session. Rejects with AUTH_REQUIRED if the sign-in session of the grant has
   * ended.
   */
  grant(
    user: Pick<UserRecord, 'id' | 'tenant'>,
    granted: Pick<SessionRecord, 'hash' | 'groups' | 'expiresAt'> & {
      readonly grant: NonNullable<SessionRecord['grant']>;
    },
  ): Promise<void>;
  /** Null if the session has ended. */
  find(hash: string): Promise<SessionRecord | null>;
  /** The caller with this cookie; null if the session has ended, or its user is deleted or disabled. */
  resolve(secret: string): Promise<ResolvedCaller | null>;
  list(userId: string): Promise<SessionRecord[]>;
  /** Returns the ended session; null if there was none. */
  end(secret: string): Promise<SessionRecord | null>;
  /** Ends a session of this user. Returns null if the user has no session with this hash. */
  endByHash(userId: string, hash: string): Promise<SessionRecord | null>;
  /** Ends all sessions and grants of the user, and returns their number. Every replica closes the user's connections. */
  endAll(user: Pick<UserRecord, 'id' | 'tenant'>): Promise<number>;
  sweep(): Promise<number>;
}

interface SignInSessionParts {
  sessions: SessionStore;
  users: UserStore;
  credentials: Pick<CredentialStore, 'removeExpired'>;
  /** Removes the tokens of a session before it resolves. Revocation at the provider follows in the background. */
  endTokens: (key: CredentialKey) => Promise<unknown>;
  changes: ChangeFeed;
  clock: Clock;
  random: Random;
}

const PASSWORD_SIGN_IN: SignInDetails = { via: 'password', groups: [] };

export function createSignInSessions(parts: SignInSessionParts): SignInSessions {
  const { sessions, users, credentials, endTokens, changes, clock, random } = parts;

  /** Every replica closes the connections that it opened for the user before this time. */
  async function publishSignOut(userId: string): Promise<void> {
    const now = clock.now();
    await users.update(userId, { signedOutAt: now }, now);
    await changes.publish({ topic: 'users', id: userId });
  }

  /** The grants that were created during this session. Their tokens end with it; the grants themselves stay. */
  async function findGrantsOf({ hash, userId }: SessionRecord): Promise<SessionRecord[]> {
    return (await sessions.list(userId, clock.now())).filter(({ grant }) => grant?.from === hash);
  }

  async function endTokensOf(ended: readonly SessionRecord[]): Promise<void> {
    for (const { tenant, userId, hash } of ended) {
      await endTokens(loginCredentialKey({ tenant, userId, session: hash }));
    }
  }

  async function endSession(session: SessionRecord): Promise<SessionRecord | null> {
    const { hash, userId } = session;
    await endTokensOf([session, ...(await findGrantsOf(session))]);
    const isRemoved = await sessions.remove(hash);
    // Grants that were created since the first read. Later ones fail, because the session is gone.
    await endTokensOf(await findGrantsOf(session));
    // Published even if another process removed the session: that process may have failed before it published.
    await changes.publish({ topic: 'sessions', id: hash });
    // The end of a client's grant invalidates the cached caller, but leaves the user's other connections open.
    if (session.grant === null) await publishSignOut(userId);
    else await changes.publish({ topic: 'users', id: userId });
    return isRemoved ? session : null;
  }

  async function endActiveSessions(userId: string): Promise<number> {
    const active = await sessions.list(userId, clock.now());
    await endTokensOf(active);
    let ended = 0;
    for (const { hash } of active) {
      if (await sessions.remove(hash)) ended += 1;
      await changes.publish({ topic: 'sessions', id: hash });
    }
    return ended;
  }

  return {
    async start(user, { via, groups } = PASSWORD_SIGN_IN) {
      const secret = generateSecret(random);
      const hash = hashSecret(secret);
      const now = clock.now();
      const expiresAt = now + SESSION_LIFETIME_MS;
      const { id: userId, tenant } = user;
      await sessions.insert({ hash, userId, tenant, via, groups, grant: null, createdAt: now, expiresAt });
      return { secret, hash, expiresAt };
    },
    async grant({ id: userId, tenant }, { hash, groups, expiresAt, grant }) {
      const createdAt = clock.now();
      const session = { hash, userId, tenant, via: 'client', groups, grant, createdAt, expiresAt } as const;
      await sessions.insert(session);
      // Checked after the insert: either this check finds that the sign-in session ended, or the sign-out finds the grant.
      if (grant.from === '' || (await sessions.find(grant.from, createdAt))) return;
      await endSession(session);
      throw new GatewayError('AUTH_REQUIRED');
    },
    find: (hash) => sessions.find(hash, clock.now()),
    async resolve(secret) {
      const session = await sessions.find(hashSecret(secret), clock.now());
      // A grant has no cookie. Its hash derives from an id that is not secret.
      if (session?.grant !== null) return null;
      const user = await users.findById(session.userId);
      if (!isActiveUser(user, session.tenant)) return null;
      const { hash, groups, expiresAt } = session;
      return { caller: toPrincipal(user, { via: 'session', session: hash }, groups), until: expiresAt };
    },
    list: (userId) => sessions.list(userId, clock.now()),
    async end(secret) {
      const session = await sessions.find(hashSecret(secret), clock.now());
      return session && endSession(session);
    },
    async endByHash(userId, hash) {
      const session = await sessions.find(hash, clock.now());
      return session?.userId === userId ? endSession(session) : null;
    },
    async endAll({ id }) {
      // The second pass ends grants that were created during the first. Later grants fail, because their session is gone.
      const ended =
        (await endActiveSessions(id)) + (await endActiveSessions(id)) + (await sessions.removeByUser(id));
      await publishSignOut(id);
      return ended;
    },
    sweep: async () =>
      (await sessions.removeExpired(clock.now())) + (await credentials.removeExpired(clock.now())),
  };
}

/** The vault key of the identity provider's tokens for one session, so that the tokens end with the session. */
export function loginCredentialKey(session: {
  readonly tenant: string;
  readonly userId: string;
  readonly session: string;
}): CredentialKey {
  const { tenant, userId, session: label } = session;
  return { tenant, principal: `user:${userId}`, serverId: '@login', kind: 'login', label };
}
