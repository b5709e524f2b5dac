import type { Clock } from '@behalf/kernel';
import { decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose';
import type { DevKeyRing } from '../signingKeys.ts';
import { findUser, type DevUser } from '../users.ts';

export type SubjectFault =
  | 'unrecognized-token'
  | 'wrong-issuer'
  | 'outside-validity-period'
  | 'wrong-audience'
  | 'id-token'
  | 'app-only'
  | 'unknown-user';

/** A user's token that holds. */
export interface VerifiedSubject {
  readonly user: DevUser;
  readonly claims: JWTPayload;
}

export interface SubjectVerifier {
  /** A token of ours, whatever it is for: signature, issuer and time. */
  verifyToken(token: string): Promise<JWTPayload | SubjectFault>;
  /** An access token of a user for one of these audiences. */
  verifyAccessToken(token: string, audiences: readonly string[]): Promise<VerifiedSubject | SubjectFault>;
  /** An ID token of a user for this client. */
  verifyIdToken(token: string, clientId: string): Promise<VerifiedSubject | SubjectFault>;
}

export interface SubjectVerifierParts {
  keys: DevKeyRing;
  users: readonly DevUser[];
  /** The names under which this provider issues. */
  issuers: readonly string[];
  clock: Clock;
}

export function createSubjectVerifier({
  keys,
  users,
  issuers,
  clock,
}: SubjectVerifierParts): SubjectVerifier {
  const verifyToken: SubjectVerifier['verifyToken'] = async (token) => {
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => findPublishedKey(keys, kid), {
        algorithms: ['RS256'],
        requiredClaims: ['iss', 'sub', 'aud', 'iat', 'exp'],
        currentDate: new Date(clock.now()),
      });
      return issuers.includes(payload.iss ?? '') ? payload : 'wrong-issuer';
    } catch (error) {
      const isExpired = error instanceof errors.JWTExpired;
      const isNotYetValid = error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf';
      return isExpired || isNotYetValid ? 'outside-validity-period' : 'unrecognized-token';
    }
  };

  const toSubject = (claims: JWTPayload): VerifiedSubject | SubjectFault => {
    const user = findUser(users, claims.sub);
    return user ? { user, claims } : 'unknown-user';
  };

  return {
    verifyToken,
    async verifyAccessToken(token, audiences) {
      const claims = await verifyToken(token);
      if (typeof claims === 'string') return claims;
      if (isIdToken(token, claims)) return 'id-token';
      if (!hasAudience(claims, audiences)) return 'wrong-audience';
      if (claims.idtyp === 'app') return 'app-only';
      return toSubject(claims);
    },
    async verifyIdToken(token, clientId) {
      const claims = await verifyToken(token);
      if (typeof claims === 'string') return claims;
      if (!isIdToken(token, claims) || !hasAudience(claims, [clientId])) return 'wrong-audience';
      return toSubject(claims);
    },
  };
}

/** RFC 9068 gives access tokens a type of their own; one without it shows what was delegated, or that nothing was. */
function isIdToken(token: string, claims: JWTPayload): boolean {
  if (decodeProtectedHeader(token).typ === 'at+jwt') return false;
  return claims.scp === undefined && claims.scope === undefined && claims.idtyp === undefined;
}

function hasAudience({ aud }: JWTPayload, audiences: readonly string[]): boolean {
  return (Array.isArray(aud) ? aud : [aud ?? '']).some((value) => audiences.includes(value));
}

function findPublishedKey(keys: DevKeyRing, kid: string | undefined) {
  const key = keys.listPublished().find((candidate) => candidate.kid === kid);
  if (!key) throw new errors.JWKSNoMatchingKey();
  return key.publicKey;
}
