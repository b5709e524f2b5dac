import type { Clock } from '@behalf/kernel';
import { decodeJwt } from 'jose';
import type { UserStore } from '../../ports/index.ts';
import { toPrincipal } from '../../principal/principal.ts';
import type { Log } from '../../upstream/parts.ts';
import type { ResolvedCaller } from '../callerCache.ts';
import type { SigningKeySource } from '../openid/keySource.ts';
import { TokenRefused } from '../openid/tokenRefused.ts';
import { CLOCK_TOLERANCE_MS, verifyJwt, type VerifiedJwt } from '../openid/verifyJwt.ts';
import type { SignInSessions } from '../signInSessions.ts';
import { ACCESS_LIFETIME_MS } from './signingKeys.ts';

/** The claim that names the grant, by the hash of its session. */
export const GRANT_CLAIM = 'grant';

/** Callers with a token of our own authorization server. */
export interface GrantTokenCallers {
  /** Whether a token says that it is ours. Proves nothing. */
  isOwnToken(token: string): boolean;
  /** Null when nobody shows it: it is not ours, or what was granted has ended. */
  resolve(token: string): Promise<ResolvedCaller | null>;
}

export interface GrantTokenCallerParts {
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
