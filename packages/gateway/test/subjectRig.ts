import { createKeyring, HiddenText, systemRandom as random, type Fetch } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { aUser } from '@behalf/testkit/suites';
import { SubjectUnavailable } from '../src/credentials/obo/subject.ts';
import { createSubjectSource, type SubjectSourceParts } from '../src/credentials/obo/subjectSource.ts';
import { GatewayError } from '../src/errors/gatewayError.ts';
import type { FederatedTokens } from '../src/identity/openid/loginTokens.ts';
import { createSignInSessions } from '../src/identity/signInSessions.ts';
import type { UserRecord } from '../src/ports/index.ts';
import {
  toPrincipal,
  type PresentedToken,
  type Principal,
  type UserPrincipal,
} from '../src/principal/principal.ts';
import { createLoginRig } from './loginRig.ts';

export const SUBJECT_ISSUER = 'https://idp.example';
export const HOUR_MS = 60 * 60_000;

/** Sign-ins on a memory store, read through parts that count, wait and break. */
export async function createSubjectRig(over: Partial<SubjectSourceParts> = {}, fetch?: Fetch) {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random });
  const keyring = createKeyring([Buffer.alloc(32, 1)], random);
  const { vault, loginTokens } = createLoginRig({ store, keyring, clock, issuer: SUBJECT_ISSUER, fetch });
  const sessions = createSignInSessions({ ...store, clock, random, endTokens: (key) => vault.remove(key) });
  const reads: string[] = [];
  let duringRead: () => Promise<void> = async () => undefined;
  let isStoreDown = false;
  /** A read: what happens after it comes before its use. */
  const countRead = async <T>(name: string, read: () => Promise<T>): Promise<T> => {
    reads.push(name);
    if (isStoreDown) throw new Error('the store does not answer');
    const result = await read();
    await duringRead();
    return result;
  };
  const parts: SubjectSourceParts = {
    login: {
      issuer: SUBJECT_ISSUER,
      tokens: {
        current: (owner) => countRead('tokens', () => loginTokens.current(owner)),
        renew: (owner, accessToken) => countRead('renewed', () => loginTokens.renew(owner, accessToken)),
        withRefreshToken: (owner, signal, work) => loginTokens.withRefreshToken(owner, signal, work),
      },
    },
    sessions: { list: (userId) => countRead('sessions', () => sessions.list(userId)) },
    users: { findById: (id) => countRead('users', () => store.users.findById(id)) },
    // As if the feed had lost touch at once: only notices and the staleness bound end anything.
    changes: { ...store.changes, syncedUntil: () => 0 },
    clock,
    ...over,
  };
  const source = createSubjectSource(parts);

  async function createAccount(id: string, overrides: Partial<UserRecord> = {}): Promise<UserRecord> {
    const user = aUser({ id, issuer: SUBJECT_ISSUER, subject: `sub-${id}`, ...overrides });
    await store.users.insert(user);
    return user;
  }

  const createTokens = (
    user: UserRecord,
    tokenText: string,
    overrides: Partial<FederatedTokens> = {},
  ): FederatedTokens => ({
    ...{ issuer: user.issuer, subject: user.subject, accessToken: tokenText, idToken: `id-${tokenText}` },
    expiresAt: clock.now() + HOUR_MS,
    ...overrides,
  });

  async function signInUser(user: UserRecord, tokenText: string, overrides: Partial<FederatedTokens> = {}) {
    const session = await sessions.start(user, { via: 'openid', groups: [] });
    const owner = { tenant: user.tenant, userId: user.id, session: session.hash };
    await loginTokens.store(owner, createTokens(user, tokenText, overrides), session.expiresAt);
    // Two sign-ins of one moment have no order.
    await clock.advance(1);
    return { ...session, owner, caller: toPrincipal(user, { via: 'session', session: session.hash }) };
  }

  const ada = await createAccount('u-ada');
  return {
    ...{
      clock,
      store,
      keyring,
      sessions,
      vault,
      loginTokens,
      parts,
      source,
      reads,
      ada,
      createAccount,
      signInUser,
      createTokens,
    },
    duringRead: (work: () => Promise<void>) => (duringRead = work),
    setDown: (isDown: boolean) => (isStoreDown = isDown),
    /** Somebody who shows a token of their own. */
    bearer: (user: UserRecord, tokenText: string, overrides: Partial<PresentedToken> = {}): UserPrincipal => {
      const { issuer, subject } = user;
      const expiresAt = clock.now() + HOUR_MS;
      return toPrincipal(user, {
        via: 'bearer',
        token: { text: new HiddenText(tokenText), issuer, subject, expiresAt, ...overrides },
      });
    },
    apiKey: (user: UserRecord, scopes: readonly string[] = ['mcp', 'obo']): UserPrincipal =>
      toPrincipal(user, { via: 'api_key', key: 'k1', scopes }),
    /** The token's text, or in words why there is none. */
    readSubjectToken: async (caller: Principal): Promise<string> => {
      try {
        return (await source.current(caller)).token.reveal();
      } catch (error) {
        if (error instanceof SubjectUnavailable) return `${error.reason} ${error.via}`;
        if (error instanceof GatewayError) return `${error.code} ${error.detail}`;
        throw error;
      }
    },
  };
}
