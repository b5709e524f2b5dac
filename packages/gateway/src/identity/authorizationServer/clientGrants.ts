import type { Clock } from '@behalf/kernel';
import { decodeJwt } from 'jose';
import type { SessionRecord, UserRecord, UserStore } from '../../ports/index.ts';
import { toPrincipal } from '../../principal/principal.ts';
import type { Log } from '../../upstream/upstream.ts';
import type { ResolvedCaller } from '../callerCache.ts';
import { hashSecret } from '../hashSecret.ts';
import type { SigningKeySource } from '../openid/provider.ts';
import { CLOCK_TOLERANCE_MS, TokenRefused, type VerifiedJwt, verifyJwt } from '../openid/verifyJwt.ts';
import type { SignInSessions } from '../signInSessions.ts';
import { ACCESS_LIFETIME_MS } from './signingKeys.ts';

/** How long a client may go on without its user. */
export const GRANT_LIFETIME_MS = 30 * 24 * 60 * 60 * 1000;

/** What users granted to clients: sessions of theirs, so that whatever ends a sign-in or an account ends these too. */
export interface ClientGrants {
  create(user: Pick<UserRecord, 'id' | 'tenant'>, grant: ClientGrantInput): Promise<void>;
  /** Null when it ended. */
  find(grantId: string): Promise<SessionRecord | null>;
  end(grantId: string): Promise<void>;
  /** All that this user granted to this client. */
  endForClient(userId: string, clientId: string): Promise<void>;
}

interface ClientGrantInput {
  readonly grantId: string;
  readonly clientId: string;
  /** The session during which it was granted; empty where there was none. */
  readonly from: string;
  readonly groups: readonly string[];
  readonly lifetimeMs?: number;
}

/** The session's hash. Never that of a cookie: an id of a grant is no secret, and must not be worth one. */
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

/** The claim that names the grant, by the hash of its session. */
export const GRANT_CLAIM = 'grant';

/** Callers with a token of our own authorization server. */
export interface GrantTokenCallers {
  /** Whether a token says that it is ours. Proves nothing. */
  isOwnToken(token: string): boolean;
  /** Null when nobody shows it: it is not ours, or what was granted has ended. */
  resolve(token: string): Promise<ResolvedCaller | null>;
}

interface GrantTokenCallerParts {
  readonly issuer: () => string;
  readonly keys: SigningKeySource;
  /** Whether this is an endpoint of ours that tokens are issued for. */
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
    // Nothing else that these keys sign opens a door (RFC 9068, section 4).
    if (signed.header['typ'] !== 'at+jwt') throw new TokenRefused('type');
    const { exp, iat } = signed.claims;
    // We sign none that lives longer: who has a stolen key must not hold it for longer than that either.
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
        // What was granted is judged anew each time: a signature outlives a sign-out.
        if (session?.grant?.clientId !== claims.client_id || session?.userId !== sub) return null;
        const user = await users.findById(sub);
        if (!user || user.disabledAt !== null || user.tenant !== session.tenant) return null;
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
