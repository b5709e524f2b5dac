import type { Fetch } from '@behalf/kernel';
import type { CredentialEndpoints, CredentialRecord } from '../../ports/index.ts';
import type { ClientAuthentication, OAuthClient } from './oauthClient.ts';

/** What a credential was given for, and must still be for. */
export interface GrantBinding {
  readonly canonicalUrl: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly resource: string | null;
}

/** `auto`: where the server and its authorization server ask for it. */
export type DpopMode = 'auto' | 'require' | 'off';

/** What the operator knows of an authorization server. */
export interface IssuerProfile {
  /** For how long after a rotation the refresh token before it still answers. 0: unknown. */
  readonly rotationGraceMs: number;
  /** Whether revoking a replaced pair leaves the others of its grant alone. */
  readonly revokeOnReplace: 'per-token' | 'never';
}

/** Everything that renewing or revoking one credential takes, as things are now. */
export interface GrantContext {
  readonly binding: GrantBinding;
  readonly client: OAuthClient;
  /**
   * How the client is proven, where somebody has to be asked for that: only for what is sent to the authorization server, so
   * that a token which lives is used whoever is away. Rejects while there is no answer.
   */
  readonly loadClientAuth?: () => Promise<ClientAuthentication>;
  /** The guarded way to this authorization server. It refuses redirects. */
  readonly fetch: Fetch;
  /** `oauth_headers` of the definition. */
  readonly headers: Readonly<Record<string, string>>;
  /** What every token request of this grant repeats: `resource`, `audience`. */
  readonly form: Readonly<Record<string, string>>;
  readonly profile: IssuerProfile;
  /** Whether tokens of this server have to be bound to a key. Absent: as the server asks. */
  readonly dpop?: DpopMode | undefined;
  /** The endpoint is gone: asks the metadata again. Null when the issuer is another one, or has none. */
  rediscover(): Promise<CredentialEndpoints | null>;
  /** The client is not known there any more. True when another was registered; only ever of dynamic ones. */
  reregister(): Promise<boolean>;
}

/** Whoever knows definitions and clients. `unbound`: the server leads elsewhere now, or is gone. */
export interface GrantContexts {
  resolve(record: CredentialRecord): Promise<GrantContext | 'unbound'>;
}

/** Who we are there, with all that a request takes. Rejects while that is not known. */
export async function resolveClientAuth({
  client,
  loadClientAuth,
}: Pick<GrantContext, 'client' | 'loadClientAuth'>): Promise<OAuthClient> {
  return loadClientAuth ? { ...client, auth: await loadClientAuth() } : client;
}
