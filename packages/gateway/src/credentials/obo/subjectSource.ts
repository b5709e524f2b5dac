import { type Clock, HiddenText, createSingleFlight } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import { hashSecret } from '../../identity/hashSecret.ts';
import type { LoginSession, LoginToken, LoginTokens } from '../../identity/openid/loginTokens.ts';
import type { SignInSessions } from '../../identity/signInSessions.ts';
import { type ChangeFeed, type UserRecord, type UserStore, isCurrent } from '../../ports/index.ts';
import type { Authentication, PresentedToken, Principal, UserPrincipal } from '../../principal/principal.ts';
import { parseJsonObject } from './providers/tokenRequest.ts';
import {
  RefreshTokenPlaceholder,
  type Subject,
  type SubjectKind,
  type SubjectSource,
  SubjectUnavailable,
  type UseRefreshToken,
} from './subject.ts';

const MAX_ENTRIES = 20_000;
/** For how long a token is taken for good whose end nobody told. */
const DEFAULT_LIFETIME_MS = 5 * 60 * 1000;
/** Somebody who signs in without end makes no call read more than these. */
const MAX_SESSIONS = 20;

/** The provider at which people sign in, and what it gave for them. */
export interface LoginSource {
  readonly issuer: string;
  readonly tokens: Pick<LoginTokens, 'current' | 'renew' | 'withRefreshToken'>;
}

export interface SubjectSourceParts {
  /** Null where there is no provider: then nobody has a token. */
  readonly login: LoginSource | null;
  /** The live ones of a user, the oldest first. */
  readonly sessions: Pick<SignInSessions, 'list'>;
  readonly users: Pick<UserStore, 'findById'>;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

/** A token with the session it came with; one that was presented came with none. */
interface SessionSubject {
  readonly subject: Subject;
  readonly session: string | null;
  readonly usableUntil: number;
}

type UsableSubject = Omit<SessionSubject, 'session'>;
type AvailableToken = Extract<LoginToken, { kind: 'token' }>;
type MissingToken = Exclude<LoginToken, { kind: 'token' }>;

/** A sign-in that goes on, and whose. */
interface ActiveSignIn {
  readonly tokens: LoginSource['tokens'];
  readonly loginSession: LoginSession;
  readonly account: UserRecord;
  readonly expiresAt: number;
}

/** Which token of a sign-in is looked for. */
interface SubjectQuery {
  /** The session that it must be of; null: any sign-in of theirs. */
  readonly sessionHash: string | null;
  readonly kind: SubjectKind;
  /** How a caller is told that there is none. */
  readonly via: Subject['via'];
}

interface CacheEntry extends SessionSubject {
  readonly userId: string;
  readonly readAt: number;
}

/**
 * The caller's own token, and only while it is theirs: their account is enabled and is the one the token speaks of, and
 * the sign-in it came with goes on. Nothing is used while that cannot be told: what it is exchanged for outlives the doubt.
 * That somebody has none is not remembered: who signs in is believed at once, on every replica.
 */
export function createSubjectSource(parts: SubjectSourceParts): SubjectSource {
  const { login, sessions, users, changes, clock } = parts;
  const cache = new Map<string, CacheEntry>();
  const presentedSubjects = new WeakMap<PresentedToken, Subject>();
  /** What a caller's entry is called: the same object comes call after call. */
  const cacheKeys = {
    access_token: new WeakMap<UserPrincipal, string>(),
    id_token: new WeakMap<UserPrincipal, string>(),
    refresh_token: new WeakMap<UserPrincipal, string>(),
    id_or_refresh_token: new WeakMap<UserPrincipal, string>(),
  };
  const flights = createSingleFlight<Subject>();
  /** Counts notices: what was read before one may be what it told about. */
  let epoch = 0;

  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'sessions' && topic !== 'users') return;
    epoch += 1;
    for (const [key, { userId, session }] of cache) {
      if (id === '*' || id === (topic === 'users' ? userId : session)) cache.delete(key);
    }
  });

  function requireAccount(
    account: UserRecord | null,
    { tenant, issuer, authentication: by }: UserPrincipal,
  ): UserRecord {
    const isOwnAccount = account?.tenant === tenant && account.issuer === issuer;
    if (!isOwnAccount || account.disabledAt !== null) throw new SubjectUnavailable('absent', viaOf(by));
    return account;
  }

  /**
   * The youngest one that is good. Of a session its own or none, and so of what was granted to a client; of a key any sign-in that
   * goes on, but nothing that belongs to a client.
   */
  async function findLoginSubject(
    { tokens }: LoginSource,
    account: UserRecord,
    { sessionHash, kind, via: reportedVia }: SubjectQuery,
  ): Promise<SessionSubject> {
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
      if (!('kind' in found)) return { ...withVia(found, reportedVia), session };
      if (found.kind === 'unavailable') retryAfterMs = found.retryAfterMs;
      hasExpired ||= found.kind === 'expired';
    }
    // Whoever can be helped by waiting is not sent to sign in again.
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
    const text = new HiddenText(loginToken.accessToken);
    const subjectToken = createSubject(text, { issuer, subject, expiresAt, via: 'session' });
    return { subject: subjectToken, usableUntil: Math.min(loginToken.usableUntil, expiresAt) };
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

  /** Mostly it is over before the access token is; a renewal gives both anew, where the provider does so. */
  async function loadIdTokenSubject(
    { tokens, loginSession, account }: ActiveSignIn,
    loginToken: AvailableToken,
  ): Promise<UsableSubject | MissingToken> {
    const usable = toIdTokenSubject(account, loginToken);
    if (usable) return usable;
    const renewed = await tokens.renew(loginSession, loginToken.accessToken);
    return renewed.kind === 'token' ? (toIdTokenSubject(account, renewed) ?? { kind: 'expired' }) : renewed;
  }

  /** Its end is nobody's to know; the sign-in that it belongs to has one. */
  function toRefreshTokenSubject(
    { tokens, loginSession, account, expiresAt }: ActiveSignIn,
    loginToken: AvailableToken,
  ): UsableSubject | MissingToken {
    const { issuer, subject } = account;
    if (loginToken.refreshTokenId === undefined) return { kind: 'expired' };
    const withRefreshToken: UseRefreshToken = (signal, work) =>
      tokens.withRefreshToken(loginSession, signal, work);
    const subjectToken = Object.freeze<Subject>({
      ...{ issuer, subject, expiresAt, via: 'session' as const, token: new RefreshTokenPlaceholder() },
      hash: hashSecret(JSON.stringify(['refresh_token', loginToken.refreshTokenId])),
      withRefreshToken,
    });
    return { subject: subjectToken, usableUntil: Math.min(loginToken.usableUntil, expiresAt) };
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

  async function loadAndCache(
    key: string,
    principal: UserPrincipal,
    find: (account: UserRecord) => SessionSubject | Promise<SessionSubject>,
  ): Promise<Subject> {
    const startEpoch = epoch;
    const readAt = clock.now();
    cache.delete(key);
    const { userId } = principal;
    const found = await find(requireAccount(await users.findById(userId), principal));
    // A notice meanwhile: this answer is good enough for who asked before it, and for nobody after.
    if (startEpoch === epoch) {
      // The map keeps insertion order, so the first one is the one read longest ago.
      if (cache.size >= MAX_ENTRIES) cache.delete(cache.keys().next().value ?? '');
      cache.set(key, { ...found, userId, readAt });
    }
    return found.subject;
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
    find: (account: UserRecord) => SessionSubject | Promise<SessionSubject>,
  ): Subject | Promise<Subject> {
    const key = cacheKeyFor(principal, source, kind);
    const entry = cache.get(key);
    const now = clock.now();
    if (entry && now < entry.usableUntil && isCurrent(changes, now, entry.readAt)) return entry.subject;
    return flights.run([key, epoch], () => loadAndCache(key, principal, find), { detached: true });
  }

  return {
    current(principal: Principal, kind = 'access_token') {
      const { authentication: by } = principal;
      if (by.via === 'api_key' && !by.scopes.includes('obo')) {
        throw new GatewayError('API_KEY_SCOPE', { detail: 'The API key needs the scope "obo".' });
      }
      // Local accounts too: nobody else vouches for them.
      if (principal.kind !== 'user' || login?.issuer !== principal.issuer) {
        throw new SubjectUnavailable('absent', viaOf(by));
      }
      // What a client was granted has tokens of all kinds of its own, and no others are exchanged for it.
      if (by.via === 'bearer' && by.grant) {
        const query: SubjectQuery = { sessionHash: by.grant.session, kind, via: 'bearer' };
        return getOrLoad(principal, by.grant.session, kind, (account) =>
          findLoginSubject(login, account, query),
        );
      }
      // Nobody brings an ID token or a refresh token: of who came with a token, it is that of any sign-in of theirs that goes on.
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
        return { subject, session: null, usableUntil: subject.expiresAt };
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
    close() {
      unsubscribe();
      cache.clear();
    },
  };
}

function createSubject(
  token: HiddenText,
  identity: Pick<Subject, 'issuer' | 'subject' | 'expiresAt' | 'via'>,
): Subject {
  const { issuer, subject, expiresAt, via } = identity;
  return Object.freeze({ issuer, subject, token, hash: hashSecret(token.reveal()), expiresAt, via });
}

function withVia({ subject, usableUntil }: UsableSubject, via: Subject['via']): UsableSubject {
  return { subject: Object.freeze({ ...subject, via }), usableUntil };
}

function viaOf({ via }: Authentication): Subject['via'] {
  return via === 'bearer' ? 'bearer' : 'session';
}

/** It is sent to who issued it, and must still be good when it gets there. */
const EXPIRY_MARGIN_MS = 10_000;

interface IdTokenOwner {
  readonly issuer: string;
  readonly subject: string;
}

/**
 * Until when an ID token of this account may be exchanged; undefined when it says nothing of that, or speaks of somebody else. The
 * provider gave it to us at its own token endpoint, and it goes back to that provider alone, which verifies it.
 */
function readIdTokenExpiry(token: HiddenText, { issuer, subject }: IdTokenOwner): number | undefined {
  const claims = parseJsonObject(Buffer.from(token.reveal().split('.')[1] ?? '', 'base64url').toString());
  const { iss, sub, exp } = claims ?? {};
  if (iss !== issuer || sub !== subject || typeof exp !== 'number') return undefined;
  return exp * 1_000 - EXPIRY_MARGIN_MS;
}
