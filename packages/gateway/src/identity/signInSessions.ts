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
import { toPrincipal } from '../principal/principal.ts';
import type { ResolvedCaller } from './callerCache.ts';
import { hashSecret } from './hashSecret.ts';

export const SESSION_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

export interface IssuedSession {
  /** For the cookie, and for nothing else. */
  secret: string;
  /** How the store and everybody else call it. */
  hash: string;
  expiresAt: number;
}

/** How somebody signed in, and what their token said. */
export type SignInDetails = Pick<SessionRecord, 'via' | 'groups'>;

/** What a user grants to a client, under a hash that no cookie has. */
interface GrantedSession extends Pick<SessionRecord, 'hash' | 'groups' | 'expiresAt'> {
  readonly grant: NonNullable<SessionRecord['grant']>;
}

/** Browser sign-ins, and what their users granted to clients. */
export interface SignInSessions {
  start(user: UserRecord, details?: SignInDetails): Promise<IssuedSession>;
  /** Lives and ends as a sign-in does. Refused when the sign-in during which it is granted has ended meanwhile. */
  grant(user: Pick<UserRecord, 'id' | 'tenant'>, granted: GrantedSession): Promise<void>;
  /** Null when it ended. */
  find(hash: string): Promise<SessionRecord | null>;
  /** Who holds this cookie now: a session of a deleted or disabled user is nobody's. */
  resolve(secret: string): Promise<ResolvedCaller | null>;
  list(userId: string): Promise<SessionRecord[]>;
  /** Whose it was; null when there was none. */
  end(secret: string): Promise<SessionRecord | null>;
  /** One of this user's, by its hash; null when they have no such session. */
  endByHash(userId: string, hash: string): Promise<SessionRecord | null>;
  /** How many there were. What was opened for the user is closed on every replica. */
  endAll(user: Pick<UserRecord, 'id' | 'tenant'>): Promise<number>;
  sweep(): Promise<number>;
}

interface SignInSessionParts {
  sessions: SessionStore;
  users: UserStore;
  credentials: Pick<CredentialStore, 'removeExpired'>;
  /** Ends the tokens of a sign-in: here before it resolves, at the provider as soon as that can be. */
  endTokens: (key: CredentialKey) => Promise<unknown>;
  changes: ChangeFeed;
  clock: Clock;
  random: Random;
}

const PASSWORD_SIGN_IN: SignInDetails = { via: 'password', groups: [] };

export function createSignInSessions(parts: SignInSessionParts): SignInSessions {
  const { sessions, users, credentials, endTokens, changes, clock, random } = parts;

  /** Every replica closes what it has open for a user who was signed out after it was opened. */
  async function publishSignOut(userId: string): Promise<void> {
    const now = clock.now();
    await users.update(userId, { signedOutAt: now }, now);
    await changes.publish({ topic: 'users', id: userId });
  }

  /** Who signs out ends what is exchanged for them. What they granted stays, and has nothing to exchange any more. */
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
    // The tokens first: none may outlive the session they came with, whatever fails after this.
    await endTokensOf([session, ...(await findGrantsOf(session))]);
    const isRemoved = await sessions.remove(hash);
    // Granted since the look before: whoever grants now finds the session gone.
    await endTokensOf(await findGrantsOf(session));
    // Also when somebody else removed it: whoever did may not have come as far as telling.
    await changes.publish({ topic: 'sessions', id: hash });
    // One client's grant is looked at again wherever it is known; what its user has open elsewhere goes on.
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
      const secret = Buffer.from(random.bytes(32)).toString('base64url');
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
      // Looked for once it is in: a sign-out that does not find it here is one that we find.
      if (grant.from === '' || (await sessions.find(grant.from, createdAt))) return;
      await endSession(session);
      throw new GatewayError('AUTH_REQUIRED');
    },
    find: (hash) => sessions.find(hash, clock.now()),
    async resolve(secret) {
      const session = await sessions.find(hashSecret(secret), clock.now());
      const user = session && (await users.findById(session.userId));
      if (!user || user.disabledAt !== null || user.tenant !== session.tenant) return null;
      // No cookie belongs to what a client was granted, whatever it is called.
      if (session.grant !== null) return null;
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
      // And once more for what was granted meanwhile: whoever grants after that finds its sign-in gone.
      const ended =
        (await endActiveSessions(id)) + (await endActiveSessions(id)) + (await sessions.removeByUser(id));
      await publishSignOut(id);
      return ended;
    },
    sweep: async () =>
      (await sessions.removeExpired(clock.now())) + (await credentials.removeExpired(clock.now())),
  };
}

/** Where the tokens of a sign-in at the identity provider are kept, beside those for servers. */
const LOGIN_SERVER = '@login';

/** Under which key: one for each session, so that they end with it. */
export function loginCredentialKey({
  tenant,
  userId,
  session,
}: {
  readonly tenant: string;
  readonly userId: string;
  readonly session: string;
}): CredentialKey {
  return { tenant, principal: `user:${userId}`, serverId: LOGIN_SERVER, kind: 'login', label: session };
}
