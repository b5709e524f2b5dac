import { parseUrl } from '@behalf/contracts';
import {
  ACCESS_LIFETIME_MS,
  type AuthorizationServerSecrets,
  GRANT_CLAIM,
  GRANT_LIFETIME_MS,
  TOKEN_ALGORITHM,
  grantSessionHash,
} from '@behalf/gateway/authorization-server';
import type { UserStore } from '@behalf/gateway/ports';
import type { Fetch } from '@behalf/kernel';
import type { AdapterFactory, ClientMetadata, Configuration } from 'oidc-provider';
import { connectionFailedPage, isLocalRedirect } from './consent.ts';
import { MCP_SCOPE, MOUNT_PATH, cookieNames } from './issuer.ts';
import { INTERACTION_MS } from './limits.ts';
import { errors } from './oidcProvider.ts';

/** Every request verifies the grant, so this lifetime only determines how often clients refresh. */
export const ACCESS_TOKEN_SECONDS = ACCESS_LIFETIME_MS / 1_000;
const INTERACTION_SECONDS = INTERACTION_MS / 1_000;
/** Identity Assertion JWT Authorization Grant, section 7: authorization server metadata. */
const ID_JAG_PROFILE = 'urn:ietf:params:oauth:grant-profile:id-jag';
const GRANT_SECONDS = GRANT_LIFETIME_MS / 1_000;

/** The resources for which tokens are issued (RFC 8707). */
export interface TokenResources {
  /** The resource if a request names none. */
  defaultResource(): string;
  isResource(url: string): boolean;
}

interface ProviderConfigurationParts {
  readonly adapter: AdapterFactory;
  readonly secrets: AuthorizationServerSecrets;
  readonly resources: TokenResources;
  readonly users: Pick<UserStore, 'findById'>;
  /** Fetches metadata documents and keys of clients, with a rate limit. */
  readonly fetch: Fetch;
  readonly offersRegistration: boolean;
  /** Whether ID-JAG assertions are accepted. */
  readonly acceptsIdJags: boolean;
  /** Whether cookies have the `Secure` attribute. */
  readonly secure: boolean;
}

export function resourceServerInfo(resource: string) {
  return {
    scope: MCP_SCOPE,
    audience: resource,
    accessTokenFormat: 'jwt',
    accessTokenTTL: ACCESS_TOKEN_SECONDS,
    jwt: { sign: { alg: TOKEN_ALGORITHM } },
  } as const;
}

/** The configuration of oidc-provider: only the features that MCP clients need. */
export function oidcProviderConfiguration(parts: ProviderConfigurationParts): Configuration {
  const { adapter, secrets, resources, users, fetch, offersRegistration, acceptsIdJags, secure } = parts;
  const cookie = { httpOnly: true, signed: true, sameSite: 'lax', secure, overwrite: true } as const;
  return {
    adapter,
    jwks: { keys: [...secrets.jwks] },
    fetch: (url, init = {}) => fetch(url instanceof Request ? url.url : url, withoutDispatcher(init)),
    async findAccount(_ctx, id) {
      const user = await users.findById(id);
      return user?.disabledAt === null ? { accountId: id, claims: () => ({ sub: id }) } : undefined;
    },
    // Links the token to its grant, so that the token is no longer valid when the grant ends.
    extraTokenClaims: (_ctx, token) =>
      'grantId' in token && token.grantId ? { [GRANT_CLAIM]: grantSessionHash(token.grantId) } : undefined,
    scopes: ['openid', 'offline_access', MCP_SCOPE],
    claims: { openid: ['sub'] },
    responseTypes: ['code'],
    subjectTypes: ['public'],
    // Only needed for pairwise subjects. Disabled, because it would fetch a URL.
    sectorIdentifierUriValidate: () => false,
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: TOKEN_ALGORITHM,
    },
    enabledJWA: { idTokenSigningAlgValues: [TOKEN_ALGORITHM] },
    extraClientMetadata: {
      // oidc-provider calls the validator once per client; the property itself is not used.
      properties: ['software_id'],
      validator: (_ctx, _key, _value, metadata) => normalizeClientMetadata(metadata),
    },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    clientBasedCORS: () => false,
    // Tells clients in the metadata that ID-JAG assertions are accepted.
    ...(acceptsIdJags && { discovery: { authorization_grant_profiles_supported: [ID_JAG_PROFILE] } }),
    // A grant has its own session (`ClientGrants`) and is independent of the session of oidc-provider.
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    revokeGrantPolicy: () => true,
    loadExistingGrant: async (ctx) => {
      const id = ctx.oidc.result?.consent?.grantId;
      return id === undefined ? undefined : ctx.oidc.provider.Grant.find(id);
    },
    interactions: { url: (_ctx, { uid }) => `${MOUNT_PATH}/interaction/${uid}` },
    renderError: (ctx, { error }) => {
      ctx.type = 'html';
      ctx.body = connectionFailedPage(error);
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      registration: { enabled: offersRegistration, issueRegistrationAccessToken: false },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        allowClient: () => true,
        cacheDuration: { min: 60, max: 24 * 60 * 60 },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_ctx, _client, requested) => requested ?? resources.defaultResource(),
        useGrantedResource: () => true,
        getResourceServerInfo(_ctx, resource) {
          if (!resources.isResource(resource)) throw new errors.InvalidTarget();
          return resourceServerInfo(resource);
        },
      },
    },
    cookies: { keys: [secrets.cookieKey], names: cookieNames(secure), short: cookie, long: cookie },
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: 60,
      IdToken: ACCESS_TOKEN_SECONDS,
      Interaction: INTERACTION_SECONDS,
      // The session of oidc-provider is needed only between the end of the interaction and the response to the client.
      Session: 60,
      RefreshToken: GRANT_SECONDS,
      Grant: GRANT_SECONDS,
    },
  };
}

/** Removes the SSRF guard of oidc-provider. The egress package applies a stricter one. */
function withoutDispatcher(init: RequestInit): RequestInit {
  const { dispatcher: _dispatcher, ...rest } = init as RequestInit & { dispatcher?: unknown };
  return rest;
}

const MAX_REDIRECT_URIS = 10;
const MAX_LENGTH = 2_000;
const SCOPES = new Set(['openid', 'offline_access', MCP_SCOPE]);

/**
 * Normalizes client metadata from a document or a registration. A client with a redirect URI of a local program is native,
 * even if its metadata says otherwise; oidc-provider then accepts plain http only for loopback. Unknown scopes are removed,
 * because clients also register scopes that they know from other servers.
 */
function normalizeClientMetadata(metadata: Record<string, unknown>): void {
  const { redirect_uris: uris, scope, client_name: name } = metadata as ClientMetadata;
  if (Array.isArray(uris)) {
    if (uris.length > MAX_REDIRECT_URIS || !uris.every(isValidRedirectUri)) {
      throw new errors.InvalidRedirectUri();
    }
    metadata['application_type'] = uris.some(isLocalRedirect) ? 'native' : 'web';
  }
  if (typeof name === 'string' && name.length > MAX_LENGTH) {
    throw new errors.InvalidClientMetadata('client_name is too long');
  }
  if (typeof scope === 'string') {
    metadata['scope'] = scope
      .split(' ')
      .filter((word) => SCOPES.has(word))
      .join(' ');
  }
}

function isValidRedirectUri(uri: unknown): boolean {
  return typeof uri === 'string' && uri.length <= MAX_LENGTH && parseUrl(uri) !== undefined;
}
