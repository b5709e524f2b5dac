import type { Clock } from '@behalf/kernel';
import { decodeJwt } from 'jose';
import type { SessionRecord, UserRecord, UserStore } from '../../ports/index.ts';
import { isActiveUser, toPrincipal } from '../../principal/principal.ts';
import type { Log } from '../../upstream/upstream.ts';
import type { ResolvedCaller } from '../callerCache.ts';
import { hashSecret } from '../hashSecret.ts';
import type { SigningKeySource } from '../openid/provider.ts';
import { CLOCK_TOLERANCE_MS, TokenRefused, type VerifiedJwt, verifyJwt } from '../openid/verifyJwt.ts';
import type { SignInSessions } from '../signInSessions.ts';
import { ACCESS_LIFETIME_MS } from './signingKeys.ts';

/** How long a client can refresh its tokens without another consent of the user. */
export const GRANT_LIFETIME_MS = 30 * 24 * 60 * 60 * 1000;

/** The grants of users to clients. A grant is a session, so a sign-out and the end of an account also end it. */
export interface ClientGrants {
  create(
    user: Pick<UserRecord, 'id' | 'tenant'>,
    grant: {
      readonly grantId: string;
      readonly clientId: string;
      /** The sign-in session in which the user consented; empty if there was none. */
      readonly from: string;
      readonly groups: readonly string[];
      readonly lifetimeMs?: number;
    },
  ): Promise<void>;
  /** Null if the grant has ended. */
  find(grantId: string): Promise<SessionRecord | null>;
  end(grantId: string): Promise<void>;
  /** Ends all grants of the user to the client. */
  endForClient(userId: string, clientId: string): Promise<void>;
}

/** The prefix keeps it apart from the hash of every cookie: a grant id is not secret and must not work as a session secret. */
export function grantSessionHash(grantId: string): string {
  return hashSecret(`grant:${grantId}`);
}

export function createClientGrants(parts: {
  readonly sessions: Pick<SignInSessions, 'grant' | 'find' | 'list' | 'endByHash'>;
  readonly clock: Clock;
}): ClientGrants {
  const { sessions, clock } = parts;
  const find = (grantId: string) => sessions.find(grantSessionHash(grantId));
  return {
    async create(user, { grantId, clientId, from, groups, lifetimeMs = GRANT_LIFETIME_MS }) {
      const expiresAt = clock.now() + lifetimeMs;
      const hash = grantSessionHash(grantId);
      await sessions.grant(user, { hash, groups, expiresAt, grant: { clientId, from } });
    },
    find,
    async end(grantId) {
      const session = await find(grantId);
      if (session) await sessions.endByHash(session.userId, session.hash);
    },
    async endForClient(userId, clientId) {
      for (const { hash, grant } of await sessions.list(userId)) {
        if (grant?.clientId === clientId) await sessions.endByHash(userId, hash);
      }
    },
  };
}

/** The claim with the hash of the grant's session. */
export const GRANT_CLAIM = 'grant';

/** Callers with an access token of Behalf's authorization server. */
export interface GrantTokenCallers {
  /** Whether the token's `iss` is this authorization server. Verifies nothing. */
  isOwnToken(token: string): boolean;
  /** Null if the token is invalid or its grant has ended. */
  resolve(token: string): Promise<ResolvedCaller | null>;
}

interface GrantTokenCallerParts {
  readonly issuer: () => string;
  readonly keys: SigningKeySource;
  /** Whether the URL is an MCP endpoint of this gateway. */
  readonly isResource: (url: string) => boolean;
  readonly sessions: Pick<SignInSessions, 'find'>;
  readonly users: Pick<UserStore, 'findById'>;
  readonly clock: Clock;
  readonly log: Log;
}

export function createGrantTokenCallers(parts: GrantTokenCallerParts): GrantTokenCallers {
  const { issuer, keys, isResource, sessions, users, clock, log } = parts;

  async function verify(
    token: string,
  ): Promise<{ claims: VerifiedJwt['claims']; audience: string; key: string }> {
    const { aud: audience } = decodeJwt(token);
    if (typeof audience !== 'string' || !isResource(audience)) throw new TokenRefused('audience');
    const signed = await verifyJwt(token, { keys, clock, issuer: issuer(), audience: [audience] });
    // The same keys sign other tokens, such as ID tokens. Only access tokens are accepted (RFC 9068, section 4).
    if (signed.header['typ'] !== 'at+jwt') throw new TokenRefused('type');
    const { exp, iat } = signed.claims;
    // The authorization server signs no longer lifetime. A token signed with a stolen key must not have one, either.
    if (typeof iat !== 'number' || (exp - iat) * 1_000 > ACCESS_LIFETIME_MS)
      throw new TokenRefused('malformed');
    return { claims: signed.claims, audience, key: String(signed.header['kid']) };
  }

  return {
    isOwnToken(token) {
      try {
        return decodeJwt(token).iss === issuer();
      } catch {
        return false;
      }
    },
    async resolve(token) {
      try {
        const { claims, audience, key } = await verify(token);
        const { [GRANT_CLAIM]: sessionHash, sub, exp } = claims;
        const session = typeof sessionHash === 'string' ? await sessions.find(sessionHash) : null;
        // The grant is read on every resolution, because the signature stays valid after a sign-out.
        if (session?.grant?.clientId !== claims.client_id || session?.userId !== sub) return null;
        const user = await users.findById(sub);
        if (!isActiveUser(user, session.tenant)) return null;
        const grant = { session: session.hash, clientId: session.grant?.clientId ?? '', signingKeyId: key };
        const until = Math.min(exp * 1_000 + CLOCK_TOLERANCE_MS, session.expiresAt);
        const by = { via: 'bearer', grant, endpoints: [audience], expiresAt: until } as const;
        return { caller: toPrincipal(user, by, session.groups), until };
      } catch (error) {
        if (!(error instanceof TokenRefused)) throw error;
        log('bearer_refused', { reason: error.reason });
        return null;
      }
    },
  };
}
