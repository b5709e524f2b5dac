import type { AuthorizationSwitches, Json } from './authorizationServerTypes.ts';

interface EndpointUrls {
  readonly issuer: string;
  readonly authorization: string;
  readonly token: string;
  readonly revocation: string;
  readonly registration: string;
  readonly jwks: string;
}

const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'];
const SIGNING_ALGS = ['ES256', 'RS256', 'PS256', 'EdDSA'];

/** RFC 8414; for OpenID Connect Discovery the same with what that wants besides. */
export function metadataDocument(switches: AuthorizationSwitches, urls: EndpointUrls): Json {
  const { pkceMethods, advertisesIss, registration, revocation, clientDocuments, metadata } = switches;
  return {
    issuer: urls.issuer,
    authorization_endpoint: urls.authorization,
    token_endpoint: urls.token,
    jwks_uri: urls.jwks,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    scopes_supported: ['openid', 'offline_access', 'mcp:read', 'mcp:write'],
    token_endpoint_auth_methods_supported: AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: SIGNING_ALGS,
    ...(registration && { registration_endpoint: urls.registration }),
    ...(revocation !== 'off' && {
      revocation_endpoint: urls.revocation,
      revocation_endpoint_auth_methods_supported: AUTH_METHODS,
    }),
    ...(pkceMethods !== null && { code_challenge_methods_supported: pkceMethods }),
    ...(advertisesIss && { authorization_response_iss_parameter_supported: true }),
    ...(clientDocuments && { client_id_metadata_document_supported: true }),
    ...metadata,
  };
}

/** Which document a well-known path asks for: RFC 8414 and OpenID by path insertion, OpenID by appending. */
export function documentKind(path: string, issuerPath: string): 'oauth' | 'oidc' | undefined {
  if (path === `/.well-known/oauth-authorization-server${issuerPath}`) return 'oauth';
  const openid = '/.well-known/openid-configuration';
  return path === `${openid}${issuerPath}` || path === `${issuerPath}${openid}` ? 'oidc' : undefined;
}
