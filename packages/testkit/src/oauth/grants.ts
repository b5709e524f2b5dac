import { randomBytes } from 'node:crypto';
import type {
  AccessTokenFacts,
  AuthorizationSwitches,
  GrantedTokens,
  GrantRequest,
} from './authorizationServerTypes.ts';
import { OAuthRefusal } from './oauthRefusal.ts';

/** Everything that came of one consent. It lives and dies as one. */
interface Family {
  readonly id: string;
  readonly clientId: string;
  readonly user: string;
  readonly scope: string;
  readonly resource: string | null;
  revoked: boolean;
  current: string | undefined;
}

interface RefreshToken {
  readonly family: Family;
  supersededAt?: number;
  successor?: string;
}

interface AccessToken {
  readonly family: Family;
  readonly scope: string;
  readonly expiresAt: number;
}

export interface Grants {
  issue(request: GrantRequest): GrantedTokens;
  refresh(clientId: string, refreshToken: string, wished?: string): GrantedTokens;
  revoke(token: string, whole: boolean): boolean;
  inspect(accessToken: string): AccessTokenFacts | undefined;
  isCurrent(refreshToken: string): boolean;
  endAccessToken(accessToken: string): void;
  endFamily(familyId: string): void;
  subjectOf(familyId: string): string | undefined;
}

interface Parts {
  readonly switches: () => AuthorizationSwitches;
  readonly now: () => number;
  readonly count: (what: 'rotations' | 'reuses' | 'familyRevocations') => void;
  readonly born: (secret: string) => string;
}

/**
 * Tokens with teeth: a refresh token rotates with each use, and one that was superseded ends its family when it comes again
 * (RFC 9700, 4.14.2), unless the grace window forgives it.
 */
export function createGrants({ switches, now, count, born }: Parts): Grants {
  const families = new Map<string, Family>();
  const refreshTokens = new Map<string, RefreshToken>();
  const accessTokens = new Map<string, AccessToken>();

  function newAccess(family: Family, scope: string): Pick<GrantedTokens, 'accessToken' | 'expiresInS'> {
    const { lifetimeS, endsOldAccess } = switches();
    if (endsOldAccess) dropAccess(family);
    const accessToken = born(`at-${randomBytes(24).toString('base64url')}`);
    accessTokens.set(accessToken, { family, scope, expiresAt: now() + lifetimeS * 1_000 });
    return { accessToken, expiresInS: lifetimeS };
  }

  function newRefresh(family: Family): string {
    const refreshToken = born(`rt-${randomBytes(24).toString('base64url')}`);
    refreshTokens.set(refreshToken, { family });
    family.current = refreshToken;
    return refreshToken;
  }

  function dropAccess(family: Family): void {
    for (const [token, held] of accessTokens) if (held.family === family) accessTokens.delete(token);
  }

  function end(family: Family): void {
    family.revoked = true;
    family.current = undefined;
    dropAccess(family);
  }

  function pair(family: Family, scope: string, refreshToken: string | undefined): GrantedTokens {
    return { ...newAccess(family, scope), refreshToken, scope, familyId: family.id };
  }

  /** A superseded one. Only the very next of the chain can be given again: once that was used too, this is a replay. */
  function again(held: RefreshToken, scope: string): GrantedTokens {
    const { graceMs, inGrace } = switches();
    const { family, successor, supersededAt = 0 } = held;
    if (now() - supersededAt < graceMs && successor !== undefined && family.current === successor) {
      return pair(family, scope, inGrace === 'successor' ? successor : undefined);
    }
    count('reuses');
    end(family);
    count('familyRevocations');
    throw new OAuthRefusal('invalid_grant', 'refresh token reuse: the grant is revoked');
  }

  return {
    issue({ clientId, user = 'user-1', scope = '', resource, refreshToken = true }) {
      const family: Family = {
        id: randomBytes(9).toString('base64url'),
        clientId,
        user,
        scope,
        resource: switches().resource === 'ignore' ? null : (resource ?? null),
        revoked: false,
        current: undefined,
      };
      families.set(family.id, family);
      return pair(family, scope, refreshToken ? newRefresh(family) : undefined);
    },

    refresh(clientId, refreshToken, wished) {
      const held = refreshTokens.get(refreshToken);
      if (!held || held.family.clientId !== clientId || held.family.revoked) {
        throw new OAuthRefusal('invalid_grant', 'the refresh token is not valid');
      }
      const { family } = held;
      const scope = wished ?? family.scope;
      const granted = family.scope.split(' ');
      if (wished !== undefined && !wished.split(' ').every((each) => granted.includes(each))) {
        throw new OAuthRefusal('invalid_scope', 'a refresh cannot add scopes');
      }
      if (held.supersededAt !== undefined) return again(held, scope);
      const { rotation, omitRefreshToken } = switches();
      count('rotations');
      if (omitRefreshToken) return pair(family, scope, undefined);
      if (rotation === 'keep') return pair(family, scope, refreshToken);
      held.supersededAt = now();
      held.successor = newRefresh(family);
      return pair(family, scope, held.successor);
    },

    revoke(token, whole) {
      const family = refreshTokens.get(token)?.family ?? accessTokens.get(token)?.family;
      if (!family) return false;
      if (whole) end(family);
      accessTokens.delete(token);
      if (refreshTokens.delete(token) && family.current === token) family.current = undefined;
      return true;
    },

    inspect(accessToken) {
      const held = accessTokens.get(accessToken);
      if (!held || held.family.revoked || held.expiresAt <= now()) return undefined;
      const { id: familyId, user, clientId, resource } = held.family;
      return { user, clientId, scope: held.scope, resource, familyId, expiresAt: held.expiresAt };
    },

    isCurrent(refreshToken) {
      const held = refreshTokens.get(refreshToken);
      return held !== undefined && !held.family.revoked && held.supersededAt === undefined;
    },

    endAccessToken: (accessToken) => void accessTokens.delete(accessToken),

    endFamily(familyId) {
      const family = families.get(familyId);
      if (family) end(family);
    },

    subjectOf: (familyId) => families.get(familyId)?.user,
  };
}
