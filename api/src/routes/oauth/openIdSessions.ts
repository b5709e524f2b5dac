import type { Audit, FederatedTokens, IssuedSession, Principal, SignInSessions } from '@behalf/gateway';
import { GRANT_LIFETIME_MS } from '@behalf/gateway/authorization-server';
import type { LoginTokens } from '@behalf/gateway/openid';
import type { UserRecord } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import { signInEvent } from '../../http/audit.ts';

/** A finished login at the identity provider. */
export interface OpenIdSignIn {
  readonly via: 'openid';
  readonly groups: readonly string[];
  readonly tokens: FederatedTokens;
}

/** A finished login for a client of the gateway's authorization server. */
export interface GrantSignIn extends Omit<OpenIdSignIn, 'via'> {
  /** The hash of the session that the grant creates. */
  readonly session: string;
  readonly clientId: string;
  /** The session of the browser. */
  readonly from: string;
}

export type SessionHolder = Pick<Principal, 'tenant' | 'userId' | 'authentication'>;

/** Creates sessions after a login, together with the tokens that the identity provider issued. */
export interface OpenIdSessions {
  /** Always creates a new session, so that an attacker cannot fixate the session id before the login. */
  readonly startSession: (user: UserRecord, signIn: OpenIdSignIn) => Promise<IssuedSession>;
  /** Creates the session of a client's grant. Idempotent, because the browser can repeat the callback. */
  readonly startGrant: (user: UserRecord, signIn: GrantSignIn) => Promise<void>;
  /** The caller of a session cookie; null if the session is not valid. */
  readonly findSessionHolder: (secret: string) => Promise<SessionHolder | null>;
}

interface OpenIdSessionParts {
  readonly sessions: Pick<SignInSessions, 'find' | 'start' | 'grant' | 'resolve'>;
  readonly loginTokens: Pick<LoginTokens, 'store'>;
  readonly audit: Pick<Audit, 'record'>;
  readonly clock: Clock;
}

export function createOpenIdSessions(parts: OpenIdSessionParts): OpenIdSessions {
  const { sessions, loginTokens, audit, clock } = parts;
  return {
    async startSession(user, { via, groups, tokens }) {
      const session = await sessions.start(user, { via, groups });
      const tokenOwner = { tenant: user.tenant, userId: user.id, session: session.hash };
      await loginTokens.store(tokenOwner, tokens, session.expiresAt);
      await audit.record(signInEvent('session.start', user));
      return session;
    },
    async startGrant(user, { session, clientId, from, groups, tokens }) {
      if (await sessions.find(session)) return;
      const expiresAt = clock.now() + GRANT_LIFETIME_MS;
      await loginTokens.store({ tenant: user.tenant, userId: user.id, session }, tokens, expiresAt);
      await sessions.grant(user, { hash: session, groups, expiresAt, grant: { clientId, from } });
    },
    findSessionHolder: async (secret) => (await sessions.resolve(secret))?.caller ?? null,
  };
}
