import {
  type JsonWebKey,
  type KeyObject,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
} from 'node:crypto';
import { promisify } from 'node:util';
import { type Clock, type Keyring, createSingleFlight } from '@behalf/kernel';
import { type OAuthClientStore, oauthClientId, toOAuthClientSealContext } from '../../ports/index.ts';
import { type ServerSnapshot, parseDraftName, toDraftName } from '../../definitions/definition.ts';
import { computeThumbprint } from './dpop.ts';

/** The URLs of the gateway as a client. */
export interface ClientUrls {
  readonly redirectUri: string;
  /** Client ID metadata documents: with a key, and without. Null if the gateway has no https URL, so that no server can fetch them. */
  readonly documentUrl: string | null;
  readonly publicDocumentUrl: string | null;
}

/** Each MCP server has its own documents, so that one authorization server cannot use a client at another. */
export function buildClientUrls(
  baseUrl: string,
  { id, name }: { readonly id: string; readonly name: string },
): ClientUrls {
  const isHttps = baseUrl.startsWith('https:');
  // A draft has its own document: authorization servers cache it, and the saved server has another redirect URI.
  const fileName = `${encodeURIComponent(parseDraftName(name) === undefined ? id : name)}.json`;
  return {
    redirectUri: `${baseUrl}/api/mcp/${encodeURIComponent(name)}/oauth/callback`,
    documentUrl: isHttps ? `${baseUrl}/oauth/client/${fileName}` : null,
    publicDocumentUrl: isHttps ? `${baseUrl}/oauth/client/public/${fileName}` : null,
  };
}

/** The draft from which a server may have been saved. */
export function asDraft<S extends { readonly id: string; readonly name: string }>(server: S): S {
  return { ...server, name: toDraftName(server.id) };
}

/** `key`: the client authenticates with the gateway's key (`private_key_jwt`). `none`: for servers that accept public clients only. */
type DocumentKind = 'key' | 'none';

/** The client ID metadata document of a server. Null if the gateway has no https URL. */
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

/** Client metadata of every registration. The title of the server is not part of it: a user may have written it. */
export function buildRegistration(baseUrl: string, redirectUri: string): Readonly<Record<string, unknown>> {
  return {
    client_name: `Behalf (${new URL(baseUrl).host})`,
    client_uri: baseUrl,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    // Only a native client may use an http redirect URI, on loopback.
    application_type: baseUrl.startsWith('https:') ? 'web' : 'native',
  };
}

/** Stored with the registered clients. No server, tenant or issuer can have these names. */
const GATEWAY_CLIENT_KEY = { tenant: '-', serverId: '@gateway', issuer: '-', redirectUri: '-' } as const;

interface DocumentSigningKey {
  readonly key: KeyObject;
  readonly kid: string;
}

export interface DocumentKey {
  /** The key that signs client assertions of the document clients. */
  current(): Promise<DocumentSigningKey>;
  /** The public key, for authorization servers. */
  jwks(): Promise<{ readonly keys: readonly Readonly<Record<string, unknown>>[] }>;
}

interface DocumentKeyParts {
  readonly clients: Pick<OAuthClientStore, 'find' | 'insert'>;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

/**
 * One ES256 key for all replicas, created once and sealed in the store. If two replicas create one at the same time, the first insert
 * wins. The key is not derived from CREDS_KEY: during a rotation of CREDS_KEY, replicas with the new value would sign with a key that
 * the others do not publish.
 */
export function createDocumentKey({ clients, keyring, clock }: DocumentKeyParts): DocumentKey {
  const flights = createSingleFlight<DocumentSigningKey>();
  let loadedKey: DocumentSigningKey | undefined;

  async function loadOrCreate(): Promise<DocumentSigningKey> {
    const stored =
      (await clients.find(GATEWAY_CLIENT_KEY)) ?? (await clients.insert(await createCandidate()));
    const pem = keyring.open(stored.sealed, toOAuthClientSealContext(stored));
    loadedKey = { key: createPrivateKey(pem), kid: stored.clientId };
    return loadedKey;
  }

  async function createCandidate() {
    const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
    const record = { ...GATEWAY_CLIENT_KEY, clientId: computeThumbprint(publicJwk(privateKey)) };
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    return {
      ...record,
      id: oauthClientId(record),
      sealed: keyring.seal(pem, toOAuthClientSealContext(record)),
      createdAt: clock.now(),
      expiresAt: null,
    };
  }

  const current = async () => loadedKey ?? flights.run([], loadOrCreate, { detached: true });
  return {
    current,
    async jwks() {
      const { key, kid } = await current();
      return { keys: [{ ...publicJwk(key), kid, use: 'sig', alg: 'ES256' }] };
    },
  };
}

/** Contains only `kty`, `crv`, `x` and `y`: the export of a public EC key has no other members. */
function publicJwk(key: KeyObject): JsonWebKey {
  return createPublicKey(key).export({ format: 'jwk' });
}
