import type { HiddenText } from '@behalf/kernel';
import type { UserRecord } from '../ports/index.ts';

/** The tenant of local accounts, and of all users if OPENID_TENANT_CLAIM is not set. */
export const DEFAULT_TENANT = 'default';

/** A verified access token of the identity provider, as the caller presented it. */
export interface PresentedToken {
  readonly text: HiddenText;
  readonly issuer: string;
  readonly subject: string;
  readonly expiresAt: number;
}

/** An access token of the identity provider or of Behalf's authorization server. */
export interface TokenAuthentication {
  readonly via: 'bearer';
  /** The subject token for token exchange. Absent for a service and for a token of Behalf's authorization server. */
  readonly token?: PresentedToken;
  /** Set for a token of Behalf's authorization server: the grant of a user to a client. */
  readonly grant?: {
    /** The hash of the grant's session. The end of that session ends the grant. */
    readonly session: string;
    readonly clientId: string;
    /** The key that signed the presented token. */
    readonly signingKeyId?: string;
  };
  /** The endpoints in the token's audience. Absent if the token is valid for the whole gateway. */
  readonly endpoints?: readonly string[];
  /** The scopes of the token. */
  readonly scopes?: readonly string[];
  readonly expiresAt?: number;
}

/** How a caller authenticated: session cookie, access token or API key. */
export type Authentication =
  | { readonly via: 'session'; readonly session: string }
  | TokenAuthentication
  | {
      readonly via: 'api_key';
      readonly key: string;
      readonly scopes: readonly string[];
      readonly expiresAt?: number;
    };

interface PrincipalBase {
  /** The account's id for a user. For a service, a name that no account can have. */
  readonly userId: string;
  readonly tenant: string;
  readonly role: string;
  readonly email: string;
  readonly name: string;
  /** `local`, or the issuer that authenticated the caller. */
  readonly issuer: string;
  readonly groups: readonly string[];
  readonly authentication: Authentication;
}

export interface UserPrincipal extends PrincipalBase {
  readonly kind: 'user';
}

/** A program with a client-credentials token. It has no user account, so it has no user variables and no user tokens. */
export interface ServicePrincipal extends PrincipalBase {
  readonly kind: 'service';
}

/** The authenticated caller, independent of the request and of the database row. Immutable. */
export type Principal = UserPrincipal | ServicePrincipal;

export function toPrincipal(
  user: UserRecord,
  authentication: Authentication,
  groups: readonly string[] = [],
): UserPrincipal {
  const { id: userId, tenant, role, email, name, issuer } = user;
  return Object.freeze({ kind: 'user', userId, tenant, role, email, name, issuer, groups, authentication });
}

/** Whether the account exists in this tenant and is not disabled. */
export function isActiveUser(user: UserRecord | null | undefined, tenant: string): user is UserRecord {
  return user?.tenant === tenant && user.disabledAt === null;
}

/** Keys of frozen principals. A call needs the key of its principal several times. */
const keyCache = new WeakMap<object, string>();

/** A unique key of the principal. JSON, so that no two (tenant, user) pairs share a key. */
export function principalKey(principal: Pick<Principal, 'tenant' | 'userId'>): string {
  const cached = keyCache.get(principal);
  if (cached !== undefined) return cached;
  const key = JSON.stringify([principal.tenant, principal.userId]);
  if (Object.isFrozen(principal)) keyCache.set(principal, key);
  return key;
}

/** A service is never an administrator, regardless of the roles in its token. */
export function isAdmin({ kind, role }: Principal): boolean {
  return kind === 'user' && role === 'ADMIN';
}

/** Whether the key belongs to a principal of this tenant. The JSON quotes prevent a match with a longer tenant name. */
export function isOfTenant(principalKey: string, tenant: string): boolean {
  return principalKey.startsWith(`[${JSON.stringify(tenant)},`);
}
