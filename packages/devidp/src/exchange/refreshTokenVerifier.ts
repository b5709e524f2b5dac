import type { Adapter } from 'oidc-provider';
import type Provider from 'oidc-provider';
import { findUser, type DevUser } from '../users.ts';
import type { VerifiedSubject, SubjectFault } from './subjectVerifier.ts';

/** A refresh token that holds, and the one that takes its place, where one does. */
export interface RefreshSubject extends VerifiedSubject {
  readonly successor?: string;
}

/** The subject of an exchange is a refresh token of the client that asks. */
export type VerifyRefreshToken = (token: string, clientId: string) => Promise<RefreshSubject | SubjectFault>;

export interface RefreshTokenVerifierParts {
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
