import type { ClientMetadata } from 'oidc-provider';
import type { FederatedCredential } from './exchange/clientVerification.ts';

/** A user. Signing in means choosing one by name. */
export interface DevUser {
  /** `sub`. Never changes. */
  id: string;
  email: string;
  name: string;
  roles?: readonly string[];
  groups?: readonly string[];
  /** `tid`. */
  tenant?: string;
}

/** Claims of access tokens and ID tokens. A claim without a value is absent. */
export function toAuthorityClaims({ roles, groups, tenant }: Omit<DevUser, 'id' | 'email' | 'name'>) {
  return {
    ...(roles && { roles: [...roles] }),
    ...(groups && { groups: [...groups] }),
    ...(tenant !== undefined && { tid: tenant }),
  };
}

/** Additional claims of ID tokens. */
export function toProfileClaims({ email, name }: DevUser) {
  return { email, email_verified: true, name, preferred_username: email };
}

/** Identity claims of Entra access tokens. `oid` is the same in every application. */
export function toEntraClaims({ id, email, name }: DevUser) {
  return { oid: id, name, preferred_username: email };
}

export function findUser(users: readonly DevUser[], id: string | undefined): DevUser | undefined {
  return users.find((user) => user.id === id);
}

/** An OAuth client. */
export interface DevClient {
  id: string;
  /** A client without a secret is public and uses PKCE only. */
  secret?: string;
  /** Redirect URIs. Without any, the client only receives app-only tokens. */
  redirectUris?: readonly string[];
  postLogoutRedirectUris?: readonly string[];
  /** `roles` of its app-only tokens. */
  appRoles?: readonly string[];
  /** `tid` of its app-only tokens. */
  tenant?: string;
  /**
   * Additional `aud` values of tokens that the client may exchange. Its ID and `api://` plus its ID are always
   * allowed.
   */
  audiences?: readonly string[];
  /** PEM certificates for `private_key_jwt`, instead of a secret. For exchanges. */
  certificates?: readonly string[];
  /** The only accepted `aud` of assertions signed with these keys. Absent: both. */
  assertionAudience?: 'issuer' | 'token_endpoint';
  /** Trusted issuers of client assertions, instead of a secret. For exchanges. */
  federatedCredentials?: readonly FederatedCredential[];
  /** Its client ID at other authorization servers, by issuer, for identity assertions (ID-JAG). */
  idJagClients?: Readonly<Record<string, string>>;
}

export function listClientAudiences({ id, audiences = [] }: DevClient): string[] {
  return [id, `api://${id}`, ...audiences];
}

export function toClientMetadata(client: DevClient): ClientMetadata {
  const { id, secret, redirectUris = [], postLogoutRedirectUris = [] } = client;
  const canSignIn = redirectUris.length > 0;
  return {
    client_id: id,
    ...(secret !== undefined && { client_secret: secret }),
    token_endpoint_auth_method: secret === undefined ? 'none' : 'client_secret_basic',
    redirect_uris: [...redirectUris],
    post_logout_redirect_uris: [...postLogoutRedirectUris],
    response_types: canSignIn ? ['code'] : [],
    grant_types: [
      ...(canSignIn ? ['authorization_code', 'refresh_token'] : []),
      // App-only tokens require a secret, so public clients do not receive them.
      ...(secret === undefined ? [] : ['client_credentials']),
    ],
  };
}
