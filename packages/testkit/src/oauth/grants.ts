import { randomBytes } from 'node:crypto';
import type {
  AccessTokenInfo,
  AuthorizationSwitches,
  GrantedTokens,
  GrantRequest,
} from './authorizationServer.ts';
import { OAuthErrorResponse } from './oauthReply.ts';

/** All tokens of one consent. They are revoked together. */
interface GrantFamily {
  readonly id: string;
  readonly clientId: string;
  readonly user: string;
  readonly scope: string;
  readonly resource: string | null;
  revoked: boolean;
  current: string | undefined;
}

interface RefreshToken {
  readonly family: GrantFamily;
  supersededAt?: number;
  successor?: string;
}

interface AccessToken {
  readonly family: GrantFamily;
  readonly scope: string;
  readonly expiresAt: number;
}

export interface Grants {
  issue(request: GrantRequest): GrantedTokens;
  refresh(clientId: string, refreshToken: string, requestedScope?: string): GrantedTokens;
  revoke(token: string, revokesGrant: boolean): boolean;
  inspect(accessToken: string): AccessTokenInfo | undefined;
  isCurrent(refreshToken: string): boolean;
  endAccessToken(accessToken: string): void;
  endFamily(familyId: string): void;
  subjectOf(familyId: string): string | undefined;
}

interface Parts {
  readonly switches: () => AuthorizationSwitches;
  readonly now: () => number;
  readonly count: (what: 'rotations' | 'reuses' | 'familyRevocations') => void;
  readonly recordSecret: (secret: string) => string;
}

/**
 * Strict refresh token rotation: each use rotates, and reuse revokes the family (RFC 9700 section 4.14.2), except
 * within the grace period.
 */
export function createGrants({ switches, now, count, recordSecret }: Parts): Grants {
  const families = new Map<string, GrantFamily>();
  const refreshTokens = new Map<string, RefreshToken>();
  const accessTokens = new Map<string, AccessToken>();

  function issueAccessToken(
    family: GrantFamily,
    scope: string,
  ): Pick<GrantedTokens, 'accessToken' | 'expiresInS'> {
    const { lifetimeS, endsOldAccess } = switches();
    if (endsOldAccess) removeAccessTokens(family);
    const accessToken = recordSecret(`at-${randomBytes(24).toString('base64url')}`);
    accessTokens.set(accessToken, { family, scope, expiresAt: now() + lifetimeS * 1_000 });
    return { accessToken, expiresInS: lifetimeS };
  }

  function issueRefreshToken(family: GrantFamily): string {
    const refreshToken = recordSecret(`rt-${randomBytes(24).toString('base64url')}`);
    refreshTokens.set(refreshToken, { family });
    family.current = refreshToken;
    return refreshToken;
  }

  function removeAccessTokens(family: GrantFamily): void {
    for (const [token, entry] of accessTokens) if (entry.family === family) accessTokens.delete(token);
  }

  function revokeFamily(family: GrantFamily): void {
    family.revoked = true;
    family.current = undefined;
    removeAccessTokens(family);
  }

  function issueTokens(family: GrantFamily, scope: string, refreshToken: string | undefined): GrantedTokens {
    return { ...issueAccessToken(family, scope), refreshToken, scope, familyId: family.id };
  }

  /**
   * Handles a rotated token. Only the direct predecessor of an unused token is tolerated; anything else is a
   * replay.
   */
  function handleReuse(entry: RefreshToken, scope: string): GrantedTokens {
    const { graceMs, inGrace } = switches();
    const { family, successor, supersededAt = 0 } = entry;
    if (now() - supersededAt < graceMs && successor !== undefined && family.current === successor) {
      return issueTokens(family, scope, inGrace === 'successor' ? successor : undefined);
    }
    count('reuses');
    revokeFamily(family);
    count('familyRevocations');
    throw new OAuthErrorResponse('invalid_grant', 'refresh token reuse: the grant is revoked');
  }

  return {
    issue({ clientId, user = 'user-1', scope = '', resource, refreshToken = true }) {
      const family: GrantFamily = {
        id: randomBytes(9).toString('base64url'),
        clientId,
        user,
        scope,
        resource: switches().resource === 'ignore' ? null : (resource ?? null),
        revoked: false,
        current: undefined,
      };
      families.set(family.id, family);
      return issueTokens(family, scope, refreshToken ? issueRefreshToken(family) : undefined);
    },

    refresh(clientId, refreshToken, requestedScope) {
      const entry = refreshTokens.get(refreshToken);
      if (!entry || entry.family.clientId !== clientId || entry.family.revoked) {
        throw new OAuthErrorResponse('invalid_grant', 'the refresh token is not valid');
      }
      const { family } = entry;
      const scope = requestedScope ?? family.scope;
      const grantedScopes = family.scope.split(' ');
      if (
        requestedScope !== undefined &&
        !requestedScope.split(' ').every((each) => grantedScopes.includes(each))
      ) {
        throw new OAuthErrorResponse('invalid_scope', 'a refresh cannot add scopes');
      }
      if (entry.supersededAt !== undefined) return handleReuse(entry, scope);
      const { rotation, omitRefreshToken } = switches();
      count('rotations');
      if (omitRefreshToken) return issueTokens(family, scope, undefined);
      if (rotation === 'keep') return issueTokens(family, scope, refreshToken);
      entry.supersededAt = now();
      entry.successor = issueRefreshToken(family);
      return issueTokens(family, scope, entry.successor);
    },

    revoke(token, revokesGrant) {
      const family = refreshTokens.get(token)?.family ?? accessTokens.get(token)?.family;
      if (!family) return false;
      if (revokesGrant) revokeFamily(family);
      accessTokens.delete(token);
      if (refreshTokens.delete(token) && family.current === token) family.current = undefined;
      return true;
    },

    inspect(accessToken) {
      const entry = accessTokens.get(accessToken);
      if (!entry || entry.family.revoked || entry.expiresAt <= now()) return undefined;
      const { id: familyId, user, clientId, resource } = entry.family;
      return { user, clientId, scope: entry.scope, resource, familyId, expiresAt: entry.expiresAt };
    },

    isCurrent(refreshToken) {
      const entry = refreshTokens.get(refreshToken);
      return entry !== undefined && !entry.family.revoked && entry.supersededAt === undefined;
    },

    endAccessToken: (accessToken) => void accessTokens.delete(accessToken),

    endFamily(familyId) {
      const family = families.get(familyId);
      if (family) revokeFamily(family);
    },

    subjectOf: (familyId) => families.get(familyId)?.user,
  };
}
