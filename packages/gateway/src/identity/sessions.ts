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
import { principalOf } from '../principal/principal.ts';
import type { KnownCaller } from './callerCache.ts';
import { loginKey } from './loginKey.ts';
import { secretHash } from './secretHash.ts';

export const SESSION_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

export interface IssuedSession {
  /** For the cookie, and for nothing else. */
  secret: string;
  /** How the store and everybody else call it. */
  hash: string;
  expiresAt: number;
}

/** How somebody signed in, and what their token said. */
export type SignInKind = Pick<SessionRecord, 'via' | 'groups'>;

/** What a user grants to a client, under a hash that no cookie has. */
export interface GrantedSession extends Pick<SessionRecord, 'hash' | 'groups' | 'expiresAt'> {
  readonly grant: NonNullable<SessionRecord['grant']>;
}

/** Browser sign-ins, and what their users granted to clients. */
export interface Sessions {
  start(user: UserRecord, kind?: SignInKind): Promise<IssuedSession>;
  /** Lives and ends as a sign-in does. Refused when the sign-in during which it is granted has ended meanwhile. */
  grant(user: Pick<UserRecord, 'id' | 'tenant'>, granted: GrantedSession): Promise<void>;
  /** Null when it ended. */
  find(hash: string): Promise<SessionRecord | null>;
  /** Who holds this cookie now: a session of a deleted or disabled user is nobody's. */
  resolve(secret: string): Promise<KnownCaller | null>;
  list(userId: string): Promise<SessionRecord[]>;
  /** Whose it was; null when there was none. */
  end(secret: string): Promise<SessionRecord | null>;
  /** One of this user's, by its hash; null when they have no such session. */
  endOf(userId: string, hash: string): Promise<SessionRecord | null>;
  /** How many there were. What was opened for the user is closed on every replica. */
  endAll(user: Pick<UserRecord, 'id' | 'tenant'>): Promise<number>;
  sweep(): Promise<number>;
}

export interface SessionParts {
  sessions: SessionStore;
  users: UserStore;
  credentials: Pick<CredentialStore, 'removeExpired'>;
  /** Ends the tokens of a sign-in: here before it resolves, at the provider as soon as that can be. */
  endTokens: (key: CredentialKey) => Promise<unknown>;
  changes: ChangeFeed;
  clock: Clock;
  random: Random;
}

const BY_PASSWORD: SignInKind = { via: 'password', groups: [] };

export function createSessions(parts: SessionParts): Sessions {
  const { sessions, users, credentials, endTokens, changes, clock, random } = parts;

  /** Every replica closes what it has open for a user who was signed out after it was opened. */
  async function tellSignedOut(userId: string): Promise<void> {
    const now = clock.now();
    await users.update(userId, { signedOutAt: now }, now);
    await changes.publish({ topic: 'users', id: userId });
  }

  /** Who signs out ends what is exchanged for them. What they granted stays, and has nothing to exchange any more. */
  async function grantedDuring({ hash, userId }: SessionRecord): Promise<SessionRecord[]> {
    return (await sessions.list(userId, clock.now())).filter(({ grant }) => grant?.from === hash);
  }

  async function endTokensOf(ended: readonly SessionRecord[]): Promise<void> {
    for (const { tenant, userId, hash } of ended) {
      await endTokens(loginKey({ tenant, userId, session: hash }));
    }
  }

  async function finish(session: SessionRecord): Promise<SessionRecord | null> {
    const { hash, userId } = session;
    // The tokens first: none may outlive the session they came with, whatever fails after this.
    await endTokensOf([session, ...(await grantedDuring(session))]);
    const isEnded = await sessions.remove(hash);
    // Granted since the look before: whoever grants now finds the session gone.
    await endTokensOf(await grantedDuring(session));
    // Also when somebody else removed it: whoever did may not have come as far as telling.
    await changes.publish({ topic: 'sessions', id: hash });
    // One client's grant is looked at again wherever it is known; what its user has open elsewhere goes on.
    if (session.grant === null) await tellSignedOut(userId);
    else await changes.publish({ topic: 'users', id: userId });
    return isEnded ? session : null;
  }

  async function endListed(userId: string): Promise<number> {
    const all = await sessions.list(userId, clock.now());
    await endTokensOf(all);
    let ended = 0;
    for (const { hash } of all) {
      if (await sessions.remove(hash)) ended += 1;
      await changes.publish({ topic: 'sessions', id: hash });
    }
    return ended;
  }

  return {
    async start(user, { via, groups } = BY_PASSWORD) {
      const secret = Buffer.from(random.bytes(32)).toString('base64url');
      const hash = secretHash(secret);
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
      await finish(session);
      throw new GatewayError('AUTH_REQUIRED');
    },
    find: (hash) => sessions.find(hash, clock.now()),
    async resolve(secret) {
      const session = await sessions.find(secretHash(secret), clock.now());
      const user = session && (await users.findById(session.userId));
      if (!user || user.disabledAt !== null || user.tenant !== session.tenant) return null;
      // No cookie belongs to what a client was granted, whatever it is called.
      if (session.grant !== null) return null;
      const { hash, groups, expiresAt } = session;
      return { caller: principalOf(user, { via: 'session', session: hash }, groups), until: expiresAt };
    },
    list: (userId) => sessions.list(userId, clock.now()),
    async end(secret) {
      const session = await sessions.find(secretHash(secret), clock.now());
      return session && finish(session);
    },
    async endOf(userId, hash) {
      const session = await sessions.find(hash, clock.now());
      return session?.userId === userId ? finish(session) : null;
    },
    async endAll({ id }) {
      // And once more for what was granted meanwhile: whoever grants after that finds its sign-in gone.
      const ended = (await endListed(id)) + (await endListed(id)) + (await sessions.removeOfUser(id));
      await tellSignedOut(id);
      return ended;
    },
    sweep: async () =>
      (await sessions.removeExpired(clock.now())) + (await credentials.removeExpired(clock.now())),
  };
}
