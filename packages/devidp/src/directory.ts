import type { ClientMetadata } from 'oidc-provider';
import type { FederatedCredential } from './exchange/clientVerification.ts';

/** Somebody who can sign in, by choosing their name. */
export interface DevUser {
  /** `sub`: stays the same when everything else about them changes. */
  id: string;
  email: string;
  name: string;
  roles?: readonly string[];
  groups?: readonly string[];
  /** `tid`. */
  tenant?: string;
}

/** What both kinds of token say about a user. A claim nobody configured is absent, not empty. */
export function toAuthorityClaims({ roles, groups, tenant }: Omit<DevUser, 'id' | 'email' | 'name'>) {
  return {
    ...(roles && { roles: [...roles] }),
    ...(groups && { groups: [...groups] }),
    ...(tenant !== undefined && { tid: tenant }),
  };
}

/** What an ID token says in addition: who it is, for people to read. */
export function toProfileClaims({ email, name }: DevUser) {
  return { email, email_verified: true, name, preferred_username: email };
}

/** Who it is, as Entra's access tokens say it: `oid` is the same in every application. */
export function toEntraClaims({ id, email, name }: DevUser) {
  return { oid: id, name, preferred_username: email };
}

export function findUser(users: readonly DevUser[], id: string | undefined): DevUser | undefined {
  return users.find((user) => user.id === id);
}

/** An application that may ask for tokens. */
export interface DevClient {
  id: string;
  /** A client without one is public and proves itself by PKCE alone. */
  secret?: string;
  /** Where people are sent back to. Without any, nobody signs in with this client: app-only tokens remain. */
  redirectUris?: readonly string[];
  postLogoutRedirectUris?: readonly string[];
  /** `roles` of its app-only tokens. */
  appRoles?: readonly string[];
  /** `tid` of its app-only tokens. */
  tenant?: string;
  /** `aud` of the tokens it may exchange, beside its id and `api://` with it: those that were issued for itself. */
  audiences?: readonly string[];
  /** PEM certificates whose keys sign its assertions, in place of a secret. For exchanges. */
  certificates?: readonly string[];
  /** Whose assertions stand for it, in place of a secret. For exchanges. */
  federatedCredentials?: readonly FederatedCredential[];
  /** What it is called at authorization servers of others, by issuer: for whom it may have identity assertions (ID-JAG). */
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
      // An app-only token is given for the secret, so a public client has none.
      ...(secret === undefined ? [] : ['client_credentials']),
    ],
  };
}
