import type { Clock } from '@behalf/kernel';
import { type JWTPayload, decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type Provider from 'oidc-provider';
import { type Adapter } from 'oidc-provider';
import { type DevUser, findUser } from '../directory.ts';
import type { DevKeyRing } from '../signingKeys.ts';

export type SubjectFault =
  | 'unrecognized-token'
  | 'wrong-issuer'
  | 'outside-validity-period'
  | 'wrong-audience'
  | 'id-token'
  | 'app-only'
  | 'unknown-user';

/** A verified user token. */
export interface VerifiedSubject {
  readonly user: DevUser;
  readonly claims: JWTPayload;
}

export interface SubjectVerifier {
  /** Verifies signature, issuer and time of a token for any audience. */
  verifyToken(token: string): Promise<JWTPayload | SubjectFault>;
  /** Verifies a user's access token for one of these audiences. */
  verifyAccessToken(token: string, audiences: readonly string[]): Promise<VerifiedSubject | SubjectFault>;
  /** Verifies a user's ID token for this client. */
  verifyIdToken(token: string, clientId: string): Promise<VerifiedSubject | SubjectFault>;
}

interface SubjectVerifierParts {
  keys: DevKeyRing;
  users: readonly DevUser[];
  /** The issuer identifiers of this provider. */
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

/** RFC 9068 access tokens have their own `typ`. For other tokens, the delegated scope decides. */
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

/** A verified refresh token, and its successor if it was rotated. */
export interface RefreshSubject extends VerifiedSubject {
  readonly successor?: string;
}

/** Verifies that the subject is a refresh token of the requesting client. */
export type VerifyRefreshToken = (token: string, clientId: string) => Promise<RefreshSubject | SubjectFault>;

interface RefreshTokenVerifierParts {
  /** Returns the current provider instance, which changes with a key rotation. */
  readonly getProvider: () => Provider;
  readonly adapter: (model: string) => Adapter;
  readonly users: readonly DevUser[];
  /** Whether an exchange rotates the token, as a refresh does. */
  readonly shouldRotate: boolean;
}

export function createRefreshTokenVerifier({
  getProvider,
  adapter,
  users,
  shouldRotate,
}: RefreshTokenVerifierParts): VerifyRefreshToken {
  return async (token, clientId) => {
    const { RefreshToken } = getProvider();
    const refreshToken = await RefreshToken.find(token);
    if (!refreshToken) return 'unrecognized-token';
    if (refreshToken.clientId !== clientId) return 'wrong-audience';
    const user = findUser(users, refreshToken.accountId);
    if (!user) return 'unknown-user';
    if (refreshToken.consumed !== undefined) {
      // Reuse of a rotated token: revoke the whole grant (RFC 9700 section 4.14.2).
      await adapter('RefreshToken').revokeByGrantId(refreshToken.grantId ?? '');
      return 'outside-validity-period';
    }
    const claims = { sub: user.id, iat: refreshToken.iat };
    if (!shouldRotate) return { user, claims };
    const client = await getProvider().Client.find(clientId);
    if (!client) return 'wrong-audience';
    await refreshToken.consume();
    const { accountId, authTime, grantId, gty, iiat, scope, sessionUid, sid, resource } = refreshToken;
    const fields = { accountId, authTime, grantId, gty, iiat, scope, sessionUid, sid, resource };
    const successorToken = new RefreshToken({ ...fields, client } as ConstructorParameters<
      typeof RefreshToken
    >[0]);
    return { user, claims, successor: await successorToken.save() };
  };
}
