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

interface SubjectVerifierParts {
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

/** A refresh token that holds, and the one that takes its place, where one does. */
export interface RefreshSubject extends VerifiedSubject {
  readonly successor?: string;
}

/** The subject of an exchange is a refresh token of the client that asks. */
export type VerifyRefreshToken = (token: string, clientId: string) => Promise<RefreshSubject | SubjectFault>;

interface RefreshTokenVerifierParts {
  /** The one that gives them out; another after a rotation of keys. */
  readonly getProvider: () => Provider;
  readonly adapter: (model: string) => Adapter;
  readonly users: readonly DevUser[];
  /** Whether each exchange uses the token up and gives another, as a refresh does. */
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
      // Somebody has a copy of it: nothing of that sign-in is good any more (RFC 9700, section 4.14.2).
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
