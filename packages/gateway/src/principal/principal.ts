import type { HiddenText } from '@behalf/kernel';
import type { UserRecord } from '../ports/index.ts';

/** A token of the identity provider, as its holder presented it and after it was verified. */
export interface PresentedToken {
  readonly text: HiddenText;
  readonly issuer: string;
  readonly subject: string;
  readonly expiresAt: number;
}

/** What a user granted to a client at our own authorization server. */
interface ClientGrant {
  /** The hash of the session that it is: whatever ends that ends this. */
  readonly session: string;
  readonly clientId: string;
  /** Which key of ours signed the token that was shown. */
  readonly signingKeyId?: string;
}

/** A token of the identity provider, or of our own authorization server. */
export interface TokenAuthentication {
  readonly via: 'bearer';
  /** Without it, or a grant, there is nothing to exchange. */
  readonly token?: PresentedToken;
  /** Of a token of our own. */
  readonly grant?: ClientGrant;
  /** The endpoints that it was issued for, where it was not issued for the gateway as a whole. */
  readonly endpoints?: readonly string[];
  /** What was delegated with it. */
  readonly scopes?: readonly string[];
  /** When it counts no longer. */
  readonly expiresAt?: number;
}

/** By what a caller is known: the cookie of a session, a token of the identity provider, or a key of their own. */
export type Authentication =
  | { readonly via: 'session'; readonly session: string }
  | TokenAuthentication
  | {
      readonly via: 'api_key';
      readonly key: string;
      readonly scopes: readonly string[];
      /** When it counts no longer. */
      readonly expiresAt?: number;
    };

interface PrincipalBase {
  /** Of a user the account's id; of a service a name that no account can have. */
  readonly userId: string;
  readonly tenant: string;
  readonly role: string;
  readonly email: string;
  readonly name: string;
  /** `local`, or the issuer that vouches for them. */
  readonly issuer: string;
  readonly groups: readonly string[];
  readonly authentication: Authentication;
}

export interface UserPrincipal extends PrincipalBase {
  readonly kind: 'user';
}

/** A program with a token of its own: there is no user whose values, tokens or identity it could use. */
export interface ServicePrincipal extends PrincipalBase {
  readonly kind: 'service';
}

/** Who is calling: never a request, never a database row. */
export type Principal = UserPrincipal | ServicePrincipal;

export function toPrincipal(
  user: UserRecord,
  authentication: Authentication,
  groups: readonly string[] = [],
): UserPrincipal {
  const { id: userId, tenant, role, email, name, issuer } = user;
  return Object.freeze({ kind: 'user', userId, tenant, role, email, name, issuer, groups, authentication });
}

/** Of principals, which never change: every call asks for it, several times. */
const keyCache = new WeakMap<object, string>();

/** One text per person, for keys: never two for one, never one for two. */
export function principalKey(principal: Pick<Principal, 'tenant' | 'userId'>): string {
  const cached = keyCache.get(principal);
  if (cached !== undefined) return cached;
  const key = JSON.stringify([principal.tenant, principal.userId]);
  if (Object.isFrozen(principal)) keyCache.set(principal, key);
  return key;
}

/** Administrators are people: a program is none, whatever its token says. */
export function isAdmin({ kind, role }: Principal): boolean {
  return kind === 'user' && role === 'ADMIN';
}

/** Whether a principal's key names somebody of this tenant. The key is JSON, so no tenant reads as the beginning of another. */
export function isOfTenant(principalKey: string, tenant: string): boolean {
  return principalKey.startsWith(`[${JSON.stringify(tenant)},`);
}
