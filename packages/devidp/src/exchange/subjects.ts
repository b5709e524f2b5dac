import type { Clock } from '@behalf/kernel';
import { decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose';
import type { DevKeyRing } from '../signingKeys.ts';
import { findUser, type DevUser } from '../users.ts';

export type SubjectFault =
  | 'not-ours'
  | 'wrong-issuer'
  | 'outside-its-time'
  | 'wrong-audience'
  | 'id-token'
  | 'app-only'
  | 'unknown-user';

/** A user's token that holds. */
export interface ProvenSubject {
  readonly user: DevUser;
  readonly claims: JWTPayload;
}

export interface Subjects {
  /** A token of ours, whatever it is for: signature, issuer and time. */
  verify(token: string): Promise<JWTPayload | SubjectFault>;
  /** An access token of a user for one of these audiences. */
  prove(token: string, audiences: readonly string[]): Promise<ProvenSubject | SubjectFault>;
  /** An ID token of a user for this client. */
  proveIdToken(token: string, clientId: string): Promise<ProvenSubject | SubjectFault>;
}

export interface SubjectParts {
  keys: DevKeyRing;
  users: readonly DevUser[];
  /** The names under which this provider issues. */
  issuers: readonly string[];
  clock: Clock;
}

export function createSubjects({ keys, users, issuers, clock }: SubjectParts): Subjects {
  const verify: Subjects['verify'] = async (token) => {
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
      return isExpired || isNotYetValid ? 'outside-its-time' : 'not-ours';
    }
  };

  const toSubject = (claims: JWTPayload): ProvenSubject | SubjectFault => {
    const user = findUser(users, claims.sub);
    return user ? { user, claims } : 'unknown-user';
  };

  return {
    verify,
    async prove(token, audiences) {
      const claims = await verify(token);
      if (typeof claims === 'string') return claims;
      if (isIdToken(token, claims)) return 'id-token';
      if (!hasAudience(claims, audiences)) return 'wrong-audience';
      if (claims.idtyp === 'app') return 'app-only';
      return toSubject(claims);
    },
    async proveIdToken(token, clientId) {
      const claims = await verify(token);
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
  const key = keys.published().find((candidate) => candidate.kid === kid);
  if (!key) throw new errors.JWKSNoMatchingKey();
  return key.publicKey;
}
