import { type Clock, HiddenText } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import { hashSecret } from '../../identity/hashSecret.ts';
import type { LoginSession, LoginToken, LoginTokens } from '../../identity/openid/loginTokens.ts';
import type { SignInSessions } from '../../identity/signInSessions.ts';
import type { ChangeFeed, UserRecord, UserStore } from '../../ports/index.ts';
import type { Authentication, PresentedToken, Principal, UserPrincipal } from '../../principal/principal.ts';
import { createReplicatedCache } from '../../replication/replicatedCache.ts';
import { parseJsonObject } from '../oauth/tokenRequest.ts';
import {
  RefreshTokenPlaceholder,
  type Subject,
  type SubjectKind,
  type SubjectSource,
  SubjectUnavailable,
  type UseRefreshToken,
} from './subject.ts';

/*
 * Finds the user's own token for an exchange. Invariants:
 * - The account is enabled, and the token belongs to it. The login that issued the token has not ended.
 * - A caller with a session uses the token of this session only. A caller with an API key uses a token of any login of the user,
 *   but never a token that belongs to an OAuth client.
 * - If the store is unreachable, no subject is returned: a token that is exchanged now would outlive the missing check.
 * - The absence of a token is not cached: a new login takes effect immediately on every replica.
 */

const MAX_ENTRIES = 20_000;
/** Assumed lifetime of a token without an expiry. */
const DEFAULT_LIFETIME_MS = 5 * 60 * 1000;
/** Limits the reads for a user with many logins. */
const MAX_SESSIONS = 20;

/** The login provider and the tokens that it issued. */
export interface LoginSource {
  readonly issuer: string;
  readonly tokens: Pick<LoginTokens, 'current' | 'renew' | 'withRefreshToken'>;
}

export interface SubjectSourceParts {
  /** Null if no login provider is configured: then no user has a token. */
  readonly login: LoginSource | null;
  /** `list` returns the active sessions of a user, oldest first. */
  readonly sessions: Pick<SignInSessions, 'list'>;
  readonly users: Pick<UserStore, 'findById'>;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

interface UsableSubject {
  readonly subject: Subject;
  readonly usableUntil: number;
}

interface CachedSubject extends UsableSubject {
  readonly userId: string;
  /** The session of the login. Null for a token from the request. */
  readonly session: string | null;
}

type FindSubject = (account: UserRecord) => CachedSubject | Promise<CachedSubject>;
type AvailableToken = Extract<LoginToken, { kind: 'token' }>;
type MissingToken = Exclude<LoginToken, { kind: 'token' }>;

/** An active login of an account. */
interface ActiveSignIn {
  readonly tokens: LoginSource['tokens'];
  readonly loginSession: LoginSession;
  readonly account: UserRecord;
  readonly expiresAt: number;
}

interface SubjectQuery {
  /** The required session. Null: any login of the user. */
  readonly sessionHash: string | null;
  readonly kind: SubjectKind;
  readonly via: Subject['via'];
}

export function createSubjectSource(parts: SubjectSourceParts): SubjectSource {
  const { login, sessions, users, changes, clock } = parts;
  const cache = createReplicatedCache<CachedSubject>({
    ...{ changes, clock, maxEntries: MAX_ENTRIES },
    isUsable: ({ usableUntil }) => clock.now() < usableUntil,
    affectedBy({ topic, id }) {
      if (topic !== 'sessions' && topic !== 'users') return undefined;
      if (id === '*') return 'all';
      return { where: ({ userId, session }) => id === (topic === 'users' ? userId : session) };
    },
  });
  const presentedSubjects = new WeakMap<PresentedToken, Subject>();
  /** Cache keys by principal: the caller passes the same object for each call. */
  const cacheKeys = {
    access_token: new WeakMap<UserPrincipal, string>(),
    id_token: new WeakMap<UserPrincipal, string>(),
    refresh_token: new WeakMap<UserPrincipal, string>(),
    id_or_refresh_token: new WeakMap<UserPrincipal, string>(),
  };

  function requireAccount(
    account: UserRecord | null,
    { tenant, issuer, authentication }: UserPrincipal,
  ): UserRecord {
    const isOwnAccount = account?.tenant === tenant && account.issuer === issuer;
    if (!isOwnAccount || account.disabledAt !== null)
      throw new SubjectUnavailable('absent', viaOf(authentication));
    return account;
  }

  /** The usable token of the most recent login. A query without a session ignores the sessions of OAuth clients. */
  async function findLoginSubject(
    { tokens }: LoginSource,
    account: UserRecord,
    { sessionHash, kind, via: reportedVia }: SubjectQuery,
  ): Promise<CachedSubject> {
    const { tenant, id: userId } = account;
    const newestFirst = (await sessions.list(userId)).toReversed();
    const candidates = newestFirst.filter(({ hash, via }) =>
      sessionHash === null ? via === 'openid' : hash === sessionHash,
    );
    let hasExpired = false;
    let retryAfterMs: number | undefined;
    for (const { hash: session, expiresAt } of candidates.slice(0, MAX_SESSIONS)) {
      const loginSession = { tenant, userId, session };
      const found = await loadSubject(kind, { tokens, loginSession, account, expiresAt });
      if (!('kind' in found)) {
        const subject = Object.freeze({ ...found.subject, via: reportedVia });
        return { subject, usableUntil: found.usableUntil, userId, session };
      }
      if (found.kind === 'unavailable') retryAfterMs = found.retryAfterMs;
      hasExpired ||= found.kind === 'expired';
    }
    // A temporary failure takes precedence: a retry may succeed without a new login.
    if (retryAfterMs !== undefined) throw new GatewayError('OBO_TEMPORARY', { retryAfterMs });
    throw new SubjectUnavailable(hasExpired ? 'expired_no_refresh' : 'absent', reportedVia);
  }

  async function loadSubject(kind: SubjectKind, signIn: ActiveSignIn): Promise<UsableSubject | MissingToken> {
    const { tokens, loginSession, account } = signIn;
    const loginToken = await tokens.current(loginSession);
    if (loginToken.kind !== 'token') return loginToken;
    switch (kind) {
      case 'access_token':
        return toAccessTokenSubject(account, loginToken);
      case 'id_token':
        return loadIdTokenSubject(signIn, loginToken);
      case 'refresh_token':
        return toRefreshTokenSubject(signIn, loginToken);
      case 'id_or_refresh_token':
        return toIdTokenSubject(account, loginToken) ?? toRefreshTokenSubject(signIn, loginToken);
    }
  }

  function toAccessTokenSubject({ issuer, subject }: UserRecord, loginToken: AvailableToken): UsableSubject {
    const expiresAt = loginToken.expiresAt ?? clock.now() + DEFAULT_LIFETIME_MS;
    const token = new HiddenText(loginToken.accessToken);
    return {
      subject: createSubject(token, { issuer, subject, expiresAt, via: 'session' }),
      usableUntil: Math.min(loginToken.usableUntil, expiresAt),
    };
  }

  function toIdTokenSubject(account: UserRecord, { idToken }: AvailableToken): UsableSubject | undefined {
    const { issuer, subject } = account;
    const expiresAt = idToken && readIdTokenExpiry(idToken, account);
    if (!idToken || expiresAt === undefined || expiresAt <= clock.now()) return undefined;
    return {
      subject: createSubject(idToken, { issuer, subject, expiresAt, via: 'session' }),
      usableUntil: expiresAt,
    };
  }

  /** ID tokens usually expire before the access token. A refresh returns a new ID token at providers that support this. */
  async function loadIdTokenSubject(
    { tokens, loginSession, account }: ActiveSignIn,
    loginToken: AvailableToken,
  ): Promise<UsableSubject | MissingToken> {
    const usable = toIdTokenSubject(account, loginToken);
    if (usable) return usable;
    const renewed = await tokens.renew(loginSession, loginToken.accessToken);
    return renewed.kind === 'token' ? (toIdTokenSubject(account, renewed) ?? { kind: 'expired' }) : renewed;
  }

  /** A refresh token has no known expiry, so the expiry of the session limits it. */
  function toRefreshTokenSubject(
    { tokens, loginSession, account, expiresAt }: ActiveSignIn,
    loginToken: AvailableToken,
  ): UsableSubject | MissingToken {
    const { issuer, subject } = account;
    if (loginToken.refreshTokenId === undefined) return { kind: 'expired' };
    const withRefreshToken: UseRefreshToken = (signal, work) =>
      tokens.withRefreshToken(loginSession, signal, work);
    const refreshSubject = Object.freeze<Subject>({
      ...{ issuer, subject, expiresAt, via: 'session' as const, token: new RefreshTokenPlaceholder() },
      hash: hashSecret(JSON.stringify(['refresh_token', loginToken.refreshTokenId])),
      withRefreshToken,
    });
    return { subject: refreshSubject, usableUntil: Math.min(loginToken.usableUntil, expiresAt) };
  }

  function toBearerSubject(token: PresentedToken | undefined, { issuer }: UserPrincipal): Subject {
    if (token?.issuer !== issuer) throw new SubjectUnavailable('absent', 'bearer');
    if (clock.now() >= token.expiresAt) throw new SubjectUnavailable('expired_no_refresh', 'bearer');
    const cached = presentedSubjects.get(token);
    if (cached) return cached;
    const subject = createSubject(token.text, { ...token, via: 'bearer' });
    presentedSubjects.set(token, subject);
    return subject;
  }

  function cacheKeyFor(principal: UserPrincipal, source: string, kind: SubjectKind): string {
    const existing = cacheKeys[kind].get(principal);
    if (existing !== undefined) return existing;
    const { tenant, userId, authentication: by } = principal;
    const cacheKey = JSON.stringify([tenant, userId, by.via, source, kind]);
    cacheKeys[kind].set(principal, cacheKey);
    return cacheKey;
  }

  function getOrLoad(
    principal: UserPrincipal,
    source: string,
    kind: SubjectKind,
    find: FindSubject,
  ): Subject | Promise<Subject> {
    const found = cache.read(cacheKeyFor(principal, source, kind), async () =>
      find(requireAccount(await users.findById(principal.userId), principal)),
    );
    return found instanceof Promise ? found.then(({ subject }) => subject) : found.subject;
  }

  return {
    current(principal: Principal, kind = 'access_token') {
      const { authentication: by } = principal;
      if (by.via === 'api_key' && !by.scopes.includes('obo')) {
        throw new GatewayError('API_KEY_SCOPE', { detail: 'The API key needs the scope "obo".' });
      }
      // Local accounts have no identity provider and therefore no token.
      if (principal.kind !== 'user' || login?.issuer !== principal.issuer) {
        throw new SubjectUnavailable('absent', viaOf(by));
      }
      // A token granted to an OAuth client has its own login tokens. No others are exchanged for it.
      if (by.via === 'bearer' && by.grant) {
        const query: SubjectQuery = { sessionHash: by.grant.session, kind, via: 'bearer' };
        return getOrLoad(principal, by.grant.session, kind, (account) =>
          findLoginSubject(login, account, query),
        );
      }
      // A request never carries an ID or refresh token. For a bearer caller these come from any login of the user.
      if (by.via !== 'bearer' || kind !== 'access_token') {
        const sessionHash = by.via === 'session' ? by.session : null;
        const query: SubjectQuery = { sessionHash, kind, via: 'session' };
        return getOrLoad(principal, sessionHash ?? '', kind, (account) =>
          findLoginSubject(login, account, query),
        );
      }
      const subject = toBearerSubject(by.token, principal);
      return getOrLoad(principal, subject.hash, kind, (account) => {
        if (account.subject !== subject.subject) throw new SubjectUnavailable('absent', 'bearer');
        return { subject, session: null, userId: account.id, usableUntil: subject.expiresAt };
      });
    },
    async checkSubject({ kind, userId, issuer, authentication: by }) {
      const canExchange = by.via !== 'api_key' || by.scopes.includes('obo');
      if (!canExchange || kind !== 'user' || login?.issuer !== issuer) return 'absent';
      if (by.via === 'bearer') {
        if (by.token?.issuer !== issuer) return 'absent';
        return clock.now() >= by.token.expiresAt ? 'expired_no_refresh' : undefined;
      }
      const activeSessions = await sessions.list(userId);
      const isOwnSession = (hash: string) => by.via === 'api_key' || hash === by.session;
      return activeSessions.some(({ hash, via }) => via === 'openid' && isOwnSession(hash))
        ? undefined
        : 'absent';
    },
    close: () => cache.close(),
  };
}

function createSubject(
  token: HiddenText,
  { issuer, subject, expiresAt, via }: Pick<Subject, 'issuer' | 'subject' | 'expiresAt' | 'via'>,
): Subject {
  return Object.freeze({ issuer, subject, token, hash: hashSecret(token.reveal()), expiresAt, via });
}

function viaOf({ via }: Authentication): Subject['via'] {
  return via === 'bearer' ? 'bearer' : 'session';
}

/** The token must still be valid when it arrives at its issuer. */
const EXPIRY_MARGIN_MS = 10_000;

/**
 * The time until which an ID token of this account may be exchanged. Undefined if the token has no expiry or belongs to another user.
 * The signature is not checked: the token came from the provider's token endpoint and returns to the same provider, which verifies it.
 */
function readIdTokenExpiry(
  token: HiddenText,
  { issuer, subject }: Pick<UserRecord, 'issuer' | 'subject'>,
): number | undefined {
  const claims = parseJsonObject(Buffer.from(token.reveal().split('.')[1] ?? '', 'base64url').toString());
  const { iss, sub, exp } = claims ?? {};
  if (iss !== issuer || sub !== subject || typeof exp !== 'number') return undefined;
  return exp * 1_000 - EXPIRY_MARGIN_MS;
}
