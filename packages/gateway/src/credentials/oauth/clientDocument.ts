import { type KeyObject, createHash, createPrivateKey, createPublicKey, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { type Clock, type Keyring, createSingleFlight } from '@behalf/kernel';
import { type OAuthClientStore, oauthClientId, toOAuthClientSealContext } from '../../ports/index.ts';
import { type ServerSnapshot, parseDraftName, toDraftName } from '../../servers/definition.ts';

/** Where authorization servers find what we publish about ourselves. */
export interface ClientUrls {
  readonly redirectUri: string;
  /** Of the client that signs with our key, and of the one that has none; null where nobody could fetch them. */
  readonly documentUrl: string | null;
  readonly publicDocumentUrl: string | null;
}

/**
 * All addresses of ours in a sign-in at one server. A document is for one server alone, so that what one authorization server
 * learns of it is of no use for another server. Only https can be fetched, and only a public name.
 */
export function buildClientUrls(
  baseUrl: string,
  { id, name }: { readonly id: string; readonly name: string },
): ClientUrls {
  const isHttps = baseUrl.startsWith('https:');
  // A draft has a document of its own: authorization servers keep what they read, and the saved server has another redirect.
  const fileName = `${encodeURIComponent(parseDraftName(name) === undefined ? id : name)}.json`;
  return {
    redirectUri: `${baseUrl}/api/mcp/${encodeURIComponent(name)}/oauth/callback`,
    documentUrl: isHttps ? `${baseUrl}/oauth/client/${fileName}` : null,
    publicDocumentUrl: isHttps ? `${baseUrl}/oauth/client/public/${fileName}` : null,
  };
}

/** A server as the draft that it may have been made of. */
export function asDraft<S extends { readonly id: string; readonly name: string }>(server: S): S {
  return { ...server, name: toDraftName(server.id) };
}

/** `key`: it proves itself with our key (`private_key_jwt`). `none`: for authorization servers that take public clients alone. */
type DocumentKind = 'key' | 'none';

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

/** Stands among the clients that were registered: no server, tenant or issuer has such a name. */
const GATEWAY_CLIENT_KEY = { tenant: '-', serverId: '@gateway', issuer: '-', redirectUri: '-' } as const;

interface DocumentSigningKey {
  readonly key: KeyObject;
  readonly kid: string;
}

export interface DocumentKey {
  /** With which we prove that we are who our document speaks of. */
  current(): Promise<DocumentSigningKey>;
  /** What authorization servers check it by. */
  jwks(): Promise<{ readonly keys: readonly Readonly<Record<string, unknown>>[] }>;
}

interface DocumentKeyParts {
  readonly clients: Pick<OAuthClientStore, 'find' | 'insert'>;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

/**
 * One ES256 key for all replicas, made once and kept sealed in the store: of two replicas that make one at once, the first counts.
 * Derived from CREDS_KEY it would change with every rotation of that, and while replicas restart one after the other each would
 * sign with a key that the others do not publish. In the store it is sealed anew with everything else, and stays the same.
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
    const record = { ...GATEWAY_CLIENT_KEY, clientId: thumbprint(privateKey) };
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

function publicJwk(key: KeyObject): Readonly<Record<string, unknown>> {
  const { kty, crv, x, y } = createPublicKey(key).export({ format: 'jwk' });
  return { kty, crv, x, y };
}

/** RFC 7638: the members in the order of their names. */
function thumbprint(key: KeyObject): string {
  const { crv, kty, x, y } = publicJwk(key);
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}
