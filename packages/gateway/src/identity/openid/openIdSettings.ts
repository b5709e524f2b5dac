/** Where a claim is read: in the access token, in the ID token of a login, or in what the provider tells about a user. */
export type ClaimSource = 'access' | 'id' | 'userinfo';

/** Values that decide something when one of them stands in a claim. */
export interface ClaimRule {
  readonly values: readonly string[];
  readonly claim: string;
  /** At a browser's login. A bearer token is all there is of its caller: there it is always read in that. */
  readonly from: ClaimSource;
}

/** The one identity provider people and programs come from. */
export interface OpenIdSettings {
  /** Compared letter by letter, as OpenID Connect asks. */
  readonly issuer: string;
  /** Null where only bearer tokens are accepted. */
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  readonly audience: string | null;
  readonly scope: string;
  /** The redirect of a login: a path of ours, or a whole URL. */
  readonly callbackUrl: string;
  readonly roleClaim: string;
  readonly groupsClaim: string | null;
  /** Null: everybody is of the one tenant `default`. */
  readonly tenantClaim: string | null;
  readonly adminRole: ClaimRule | null;
  readonly requiredRole: ClaimRule | null;
  /** Null: whatever the issuer vouches for. An empty list allows nobody. */
  readonly allowedTenants: readonly string[] | null;
  readonly allowedClients: readonly string[] | null;
  /** Whether the provider is asked about bearer tokens that are no JWT (RFC 7662). */
  readonly introspection: boolean;
}
