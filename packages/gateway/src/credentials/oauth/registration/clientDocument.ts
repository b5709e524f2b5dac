import type { ServerSnapshot } from '../../../registry/server.ts';
import { buildClientUrls } from './clientUrls.ts';

/** `key`: it proves itself with our key (`private_key_jwt`). `none`: for authorization servers that take public clients alone. */
export type DocumentKind = 'key' | 'none';

/** Who we are, for an authorization server that fetches it (client ID metadata document). Null where it could not fetch it. */
export function buildClientDocument(
  baseUrl: string,
  server: Pick<ServerSnapshot, 'id' | 'name'>,
  kind: DocumentKind,
): Readonly<Record<string, unknown>> | null {
  const { redirectUri, documentUrl, publicDocumentUrl } = buildClientUrls(baseUrl, server);
  const clientId = kind === 'key' ? documentUrl : publicDocumentUrl;
  if (clientId === null) return null;
  return {
    client_id: clientId,
    ...buildRegistration(baseUrl, redirectUri),
    ...(kind === 'key'
      ? {
          token_endpoint_auth_method: 'private_key_jwt',
          token_endpoint_auth_signing_alg: 'ES256',
          jwks_uri: `${baseUrl}/oauth/jwks.json`,
        }
      : { token_endpoint_auth_method: 'none' }),
  };
}

/** What every registration of ours says. The server's title is not in it: a user may have written that. */
export function buildRegistration(baseUrl: string, redirectUri: string): Readonly<Record<string, unknown>> {
  return {
    client_name: `Behalf (${new URL(baseUrl).host})`,
    client_uri: baseUrl,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    // A native client may have a redirect without https, on this machine alone.
    application_type: baseUrl.startsWith('https:') ? 'web' : 'native',
  };
}
