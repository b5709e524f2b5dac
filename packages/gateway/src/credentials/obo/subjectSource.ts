import { createSingleFlight, HiddenText, type Clock } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { LoginSession, LoginToken, LoginTokens } from '../../identity/openid/loginTokens.ts';
import { secretHash } from '../../identity/secretHash.ts';
import type { Sessions } from '../../identity/sessions.ts';
import { isCurrent, type ChangeFeed, type UserRecord, type UserStore } from '../../ports/index.ts';
import type { PresentedToken, Principal, SignedInBy, UserPrincipal } from '../../principal/principal.ts';
import { idTokenEnd } from './idSubject.ts';
import {
  LentText,
  SubjectUnavailable,
  type LendSubject,
  type Subject,
  type SubjectKind,
  type SubjectSource,
} from './subject.ts';

const MOST_ENTRIES = 20_000;
/** For how long a token is taken for good whose end nobody told. */
const UNTOLD_MS = 5 * 60 * 1000;
/** Somebody who signs in without end makes no call read more than these. */
const MOST_SESSIONS = 20;

/** The provider at which people sign in, and what it gave for them. */
export interface LoginSource {
  readonly issuer: string;
  readonly tokens: Pick<LoginTokens, 'current' | 'renewed' | 'lend'>;
}

export interface SubjectSourceParts {
  /** Null where there is no provider: then nobody has a token. */
  readonly login: LoginSource | null;
  /** The live ones of a user, the oldest first. */
  readonly sessions: Pick<Sessions, 'list'>;
  readonly users: Pick<UserStore, 'findById'>;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

/** A token with the session it came with; one that was presented came with none. */
interface Held {
  readonly subject: Subject;
  readonly session: string | null;
  readonly until: number;
}

type Usable = Omit<Held, 'session'>;
type Given = Extract<LoginToken, { kind: 'token' }>;
type Lacking = Exclude<LoginToken, { kind: 'token' }>;

/** A sign-in that goes on, and whose. */
interface SignIn {
  readonly tokens: LoginSource['tokens'];
  readonly of: LoginSession;
  readonly account: UserRecord;
  readonly expiresAt: number;
}

/** Which token of a sign-in is looked for. */
interface Sought {
  /** The session that it must be of; null: any sign-in of theirs. */
  readonly only: string | null;
  readonly kind: SubjectKind;
  /** How a caller is told that there is none. */
  readonly via: Subject['via'];
}

interface Entry extends Held {
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
  const known = new Map<string, Entry>();
  const presented = new WeakMap<PresentedToken, Subject>();
  /** What a caller's entry is called: the same object comes call after call. */
  const names = {
    access_token: new WeakMap<UserPrincipal, string>(),
    id_token: new WeakMap<UserPrincipal, string>(),
    refresh_token: new WeakMap<UserPrincipal, string>(),
    id_or_refresh_token: new WeakMap<UserPrincipal, string>(),
  };
  const flights = createSingleFlight<Subject>();
  /** Counts notices: what was read before one may be what it told about. */
  let epoch = 0;

  const leave = changes.subscribe(({ topic, id }) => {
    if (topic !== 'sessions' && topic !== 'users') return;
    epoch += 1;
    for (const [key, { userId, session }] of known) {
      if (id === '*' || id === (topic === 'users' ? userId : session)) known.delete(key);
    }
  });

  function requireAccount(account: UserRecord | null, { tenant, issuer, by }: UserPrincipal): UserRecord {
    const isTheirs = account?.tenant === tenant && account.issuer === issuer;
    if (!isTheirs || account.disabledAt !== null) throw new SubjectUnavailable('absent', viaOf(by));
    return account;
  }

  /**
   * The youngest one that is good. Of a session its own or none, and so of what was granted to a client; of a key any sign-in that
   * goes on, but nothing that belongs to a client.
   */
  async function ofLogin(
    { tokens }: LoginSource,
    account: UserRecord,
    { only, kind, via: as }: Sought,
  ): Promise<Held> {
    const { tenant, id: userId } = account;
    const live = (await sessions.list(userId)).toReversed();
    const mine = live.filter(({ hash, via }) => (only === null ? via === 'openid' : hash === only));
    let isOver = false;
    let retryAfterMs: number | undefined;
    for (const { hash: session, expiresAt } of mine.slice(0, MOST_SESSIONS)) {
      const of = { tenant, userId, session };
      const held = await tokenOf(kind, { tokens, of, account, expiresAt });
      if (!('kind' in held)) return { ...toldAs(held, as), session };
      if (held.kind === 'unavailable') retryAfterMs = held.retryAfterMs;
      isOver ||= held.kind === 'over';
    }
    // Whoever can be helped by waiting is not sent to sign in again.
    if (retryAfterMs !== undefined) throw new GatewayError('OBO_TEMPORARY', { retryAfterMs });
    throw new SubjectUnavailable(isOver ? 'expired_no_refresh' : 'absent', as);
  }

  async function tokenOf(kind: SubjectKind, signIn: SignIn): Promise<Usable | Lacking> {
    const { tokens, of, account } = signIn;
    const found = await tokens.current(of);
    if (found.kind !== 'token') return found;
    switch (kind) {
      case 'access_token':
        return accessTokenOf(account, found);
      case 'id_token':
        return idTokenOf(signIn, found);
      case 'refresh_token':
        return refreshTokenOf(signIn, found);
      case 'id_or_refresh_token':
        return usableIdToken(account, found) ?? refreshTokenOf(signIn, found);
    }
  }

  function accessTokenOf({ issuer, subject }: UserRecord, found: Given): Usable {
    const expiresAt = found.expiresAt ?? clock.now() + UNTOLD_MS;
    const text = new HiddenText(found.accessToken);
    const own = subjectOf(text, { issuer, subject, expiresAt, via: 'session' });
    return { subject: own, until: Math.min(found.usableUntil, expiresAt) };
  }

  function usableIdToken(account: UserRecord, { idToken }: Given): Usable | undefined {
    const { issuer, subject } = account;
    const expiresAt = idToken && idTokenEnd(idToken, account);
    if (!idToken || expiresAt === undefined || expiresAt <= clock.now()) return undefined;
    return { subject: subjectOf(idToken, { issuer, subject, expiresAt, via: 'session' }), until: expiresAt };
  }

  /** Mostly it is over before the access token is; a renewal gives both anew, where the provider does so. */
  async function idTokenOf({ tokens, of, account }: SignIn, first: Given): Promise<Usable | Lacking> {
    const now = usableIdToken(account, first);
    if (now) return now;
    const found = await tokens.renewed(of, first.accessToken);
    return found.kind === 'token' ? (usableIdToken(account, found) ?? { kind: 'over' }) : found;
  }

  /** Its end is nobody's to know; the sign-in that it belongs to has one. */
  function refreshTokenOf({ tokens, of, account, expiresAt }: SignIn, found: Given): Usable | Lacking {
    const { issuer, subject } = account;
    if (found.renewal === undefined) return { kind: 'over' };
    const lend: LendSubject = (signal, work) => tokens.lend(of, signal, work);
    const own = Object.freeze<Subject>({
      ...{ issuer, subject, expiresAt, via: 'session' as const, token: new LentText() },
      hash: secretHash(JSON.stringify(['refresh_token', found.renewal])),
      lend,
    });
    return { subject: own, until: Math.min(found.usableUntil, expiresAt) };
  }

  function ofBearer(token: PresentedToken | undefined, { issuer }: UserPrincipal): Subject {
    if (token?.issuer !== issuer) throw new SubjectUnavailable('absent', 'bearer');
    if (clock.now() >= token.expiresAt) throw new SubjectUnavailable('expired_no_refresh', 'bearer');
    const before = presented.get(token);
    if (before) return before;
    const subject = subjectOf(token.text, { ...token, via: 'bearer' });
    presented.set(token, subject);
    return subject;
  }

  async function load(
    key: string,
    principal: UserPrincipal,
    find: (account: UserRecord) => Held | Promise<Held>,
  ): Promise<Subject> {
    const begun = epoch;
    const readAt = clock.now();
    known.delete(key);
    const { userId } = principal;
    const held = await find(requireAccount(await users.findById(userId), principal));
    // A notice meanwhile: this answer is good enough for who asked before it, and for nobody after.
    if (begun === epoch) {
      // The map keeps insertion order, so the first one is the one read longest ago.
      if (known.size >= MOST_ENTRIES) known.delete(known.keys().next().value ?? '');
      known.set(key, { ...held, userId, readAt });
    }
    return held.subject;
  }

  function nameOf(principal: UserPrincipal, place: string, kind: SubjectKind): string {
    const known = names[kind].get(principal);
    if (known !== undefined) return known;
    const { tenant, userId, by } = principal;
    const name = JSON.stringify([tenant, userId, by.via, place, kind]);
    names[kind].set(principal, name);
    return name;
  }

  function obtain(
    principal: UserPrincipal,
    place: string,
    kind: SubjectKind,
    find: (account: UserRecord) => Held | Promise<Held>,
  ): Subject | Promise<Subject> {
    const key = nameOf(principal, place, kind);
    const entry = known.get(key);
    const now = clock.now();
    if (entry && now < entry.until && isCurrent(changes, now, entry.readAt)) return entry.subject;
    return flights.run([key, epoch], () => load(key, principal, find), { detached: true });
  }

  return {
    current(principal: Principal, kind = 'access_token') {
      const { by } = principal;
      if (by.via === 'api_key' && !by.scopes.includes('obo')) {
        throw new GatewayError('API_KEY_SCOPE', { detail: 'The API key needs the scope "obo".' });
      }
      // Local accounts too: nobody else vouches for them.
      if (principal.kind !== 'user' || login?.issuer !== principal.issuer) {
        throw new SubjectUnavailable('absent', viaOf(by));
      }
      // What a client was granted has tokens of all kinds of its own, and no others are exchanged for it.
      if (by.via === 'bearer' && by.grant) {
        const sought: Sought = { only: by.grant.session, kind, via: 'bearer' };
        return obtain(principal, by.grant.session, kind, (account) => ofLogin(login, account, sought));
      }
      // Nobody brings an ID token or a refresh token: of who came with a token, it is that of any sign-in of theirs that goes on.
      if (by.via !== 'bearer' || kind !== 'access_token') {
        const only = by.via === 'session' ? by.session : null;
        const sought: Sought = { only, kind, via: 'session' };
        return obtain(principal, only ?? '', kind, (account) => ofLogin(login, account, sought));
      }
      const subject = ofBearer(by.token, principal);
      return obtain(principal, subject.hash, kind, (account) => {
        if (account.subject !== subject.subject) throw new SubjectUnavailable('absent', 'bearer');
        return { subject, session: null, until: subject.expiresAt };
      });
    },
    async foresee({ kind, userId, issuer, by }) {
      const mayExchange = by.via !== 'api_key' || by.scopes.includes('obo');
      if (!mayExchange || kind !== 'user' || login?.issuer !== issuer) return 'absent';
      if (by.via === 'bearer') {
        if (by.token?.issuer !== issuer) return 'absent';
        return clock.now() >= by.token.expiresAt ? 'expired_no_refresh' : undefined;
      }
      const live = await sessions.list(userId);
      const isTheirs = (hash: string) => by.via === 'api_key' || hash === by.session;
      return live.some(({ hash, via }) => via === 'openid' && isTheirs(hash)) ? undefined : 'absent';
    },
    close() {
      leave();
      known.clear();
    },
  };
}

function subjectOf(
  token: HiddenText,
  of: Pick<Subject, 'issuer' | 'subject' | 'expiresAt' | 'via'>,
): Subject {
  const { issuer, subject, expiresAt, via } = of;
  return Object.freeze({ issuer, subject, token, hash: secretHash(token.reveal()), expiresAt, via });
}

function toldAs({ subject, until }: Usable, via: Subject['via']): Usable {
  return { subject: Object.freeze({ ...subject, via }), until };
}

function viaOf({ via }: SignedInBy): Subject['via'] {
  return via === 'bearer' ? 'bearer' : 'session';
}
