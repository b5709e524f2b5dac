import { createKeyring, HiddenText, systemRandom as random, type Fetch } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/stores/memory';
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

export const ISSUER = 'https://idp.example';
export const HOUR_MS = 60 * 60_000;

/** Sign-ins on a memory store, read through parts that count, wait and break. */
export async function createSubjectRig(over: Partial<SubjectSourceParts> = {}, fetch?: Fetch) {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random });
  const keyring = createKeyring([Buffer.alloc(32, 1)], random);
  const { vault, loginTokens } = createLoginRig({ store, keyring, clock, issuer: ISSUER, fetch });
  const sessions = createSignInSessions({ ...store, clock, random, endTokens: (key) => vault.remove(key) });
  const reads: string[] = [];
  let meanwhile: () => Promise<void> = async () => undefined;
  let isDown = false;
  /** A read: what happens after it comes before its use. */
  const counted = async <T>(name: string, read: () => Promise<T>): Promise<T> => {
    reads.push(name);
    if (isDown) throw new Error('the store does not answer');
    const found = await read();
    await meanwhile();
    return found;
  };
  const parts: SubjectSourceParts = {
    login: {
      issuer: ISSUER,
      tokens: {
        current: (of) => counted('tokens', () => loginTokens.current(of)),
        renew: (of, accessToken) => counted('renewed', () => loginTokens.renew(of, accessToken)),
        withRefreshToken: (of, signal, work) => loginTokens.withRefreshToken(of, signal, work),
      },
    },
    sessions: { list: (userId) => counted('sessions', () => sessions.list(userId)) },
    users: { findById: (id) => counted('users', () => store.users.findById(id)) },
    // As if the feed had lost touch at once: only notices and the staleness bound end anything.
    changes: { ...store.changes, syncedUntil: () => 0 },
    clock,
    ...over,
  };
  const source = createSubjectSource(parts);

  async function account(id: string, more: Partial<UserRecord> = {}): Promise<UserRecord> {
    const user = aUser({ id, issuer: ISSUER, subject: `sub-${id}`, ...more });
    await store.users.insert(user);
    return user;
  }

  const tokensFor = (
    user: UserRecord,
    text: string,
    more: Partial<FederatedTokens> = {},
  ): FederatedTokens => ({
    ...{ issuer: user.issuer, subject: user.subject, accessToken: text, idToken: `id-${text}` },
    expiresAt: clock.now() + HOUR_MS,
    ...more,
  });

  async function signIn(user: UserRecord, text: string, more: Partial<FederatedTokens> = {}) {
    const session = await sessions.start(user, { via: 'openid', groups: [] });
    const of = { tenant: user.tenant, userId: user.id, session: session.hash };
    await loginTokens.store(of, tokensFor(user, text, more), session.expiresAt);
    // Two sign-ins of one moment have no order.
    await clock.advance(1);
    return { ...session, of, caller: toPrincipal(user, { via: 'session', session: session.hash }) };
  }

  const ada = await account('u-ada');
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
      account,
      signIn,
      tokensFor,
    },
    meanwhile: (work: () => Promise<void>) => (meanwhile = work),
    setDown: (down: boolean) => (isDown = down),
    /** Somebody who shows a token of their own. */
    bearer: (user: UserRecord, text: string, more: Partial<PresentedToken> = {}): UserPrincipal => {
      const { issuer, subject } = user;
      const expiresAt = clock.now() + HOUR_MS;
      return toPrincipal(user, {
        via: 'bearer',
        token: { text: new HiddenText(text), issuer, subject, expiresAt, ...more },
      });
    },
    apiKey: (user: UserRecord, scopes: readonly string[] = ['mcp', 'obo']): UserPrincipal =>
      toPrincipal(user, { via: 'api_key', key: 'k1', scopes }),
    /** The token's text, or in words why there is none. */
    ask: async (caller: Principal): Promise<string> => {
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
