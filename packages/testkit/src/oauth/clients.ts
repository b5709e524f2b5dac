import { type JsonWebKey, constants, createPublicKey, randomUUID, verify } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { AuthorizationClient, AuthorizationSwitches, Json } from './authorizationServer.ts';
import { OAuthErrorResponse } from './oauthReply.ts';

export interface PresentedClient {
  readonly method: string;
  readonly clientId: string;
  readonly secret?: string;
  readonly assertion?: string;
}

export interface Clients {
  add(client: AuthorizationClient): void;
  remove(clientId: string): void;
  ids(): readonly string[];
  /** Finds a client by ID. If client documents are enabled, fetches a URL. */
  find(clientId: string): Promise<AuthorizationClient | undefined>;
  /** Throws `invalid_client` if authentication fails. */
  authenticate(presented: PresentedClient | null): Promise<AuthorizationClient>;
  /** RFC 7591. */
  register(document: Json): Json;
}

interface Parts {
  readonly switches: () => AuthorizationSwitches;
  readonly now: () => number;
  readonly audiences: () => readonly string[];
  readonly count: (what: 'registrations' | 'documentReads') => void;
  readonly recordSecret: (secret: string) => string;
  readonly fetchDocument: (url: string) => Promise<unknown>;
}

export function createClients(parts: Parts): Clients {
  const registered = new Map<string, AuthorizationClient>();
  const usedAssertions = new Set<string>();

  async function fromDocument(url: string): Promise<AuthorizationClient | undefined> {
    parts.count('documentReads');
    const document = (await parts.fetchDocument(url)) as Json;
    // The document must contain its own URL (draft-ietf-oauth-client-id-metadata-document section 4.1).
    if (document['client_id'] !== url) return undefined;
    const jwksUri = document['jwks_uri'];
    const jwks = typeof jwksUri === 'string' ? await parts.fetchDocument(jwksUri) : document['jwks'];
    return {
      clientId: url,
      authMethod: authMethodOf(document['token_endpoint_auth_method'] ?? 'none'),
      keys: keysOf(jwks),
      redirectUris: document['redirect_uris'] as readonly string[],
    };
  }

  async function find(clientId: string): Promise<AuthorizationClient | undefined> {
    const client = registered.get(clientId);
    if (client || !parts.switches().clientDocuments || !/^https?:\/\//.test(clientId)) return client;
    return fromDocument(clientId);
  }

  return {
    add: (client) => void registered.set(client.clientId, client),
    remove: (clientId) => void registered.delete(clientId),
    ids: () => [...registered.keys()],
    find,

    async authenticate(presented) {
      const client = presented ? await find(presented.clientId) : undefined;
      if (!presented || !client) throw new OAuthErrorResponse('invalid_client', 'unknown client');
      if (presented.method !== client.authMethod) {
        throw new OAuthErrorResponse(
          'invalid_client',
          `${presented.method} where ${client.authMethod} is agreed`,
        );
      }
      if (client.secret !== undefined && presented.secret !== client.secret) {
        throw new OAuthErrorResponse('invalid_client', 'wrong secret');
      }
      if (client.authMethod === 'private_key_jwt') {
        verifyAssertion(presented.assertion ?? '', client, {
          audiences: parts.audiences(),
          now: parts.now(),
          usedIds: usedAssertions,
        });
      }
      return client;
    },

    register(document) {
      parts.count('registrations');
      const redirectUris = document['redirect_uris'];
      if (!Array.isArray(redirectUris) || redirectUris.length === 0) {
        throw new OAuthErrorResponse('invalid_redirect_uri', 'redirect_uris is missing');
      }
      const method = document['token_endpoint_auth_method'] ?? parts.switches().registeredAuthMethod;
      const authMethod = authMethodOf(method);
      const secret = authMethod.startsWith('client_secret')
        ? parts.recordSecret(`cs-${randomUUID()}`)
        : undefined;
      const clientId = `dynamic-${randomUUID()}`;
      registered.set(clientId, {
        clientId,
        authMethod,
        secret,
        keys: keysOf(document['jwks']),
        redirectUris: redirectUris as string[],
      });
      return {
        ...document,
        client_id: clientId,
        token_endpoint_auth_method: authMethod,
        ...(secret !== undefined && { client_secret: secret, client_secret_expires_at: 0 }),
      };
    },
  };
}

/** Reads the client authentication of a request (RFC 6749 section 2.3, RFC 7523). */
export function readClientCredentials(
  headers: IncomingHttpHeaders,
  form: URLSearchParams,
): PresentedClient | null {
  const [, basic] = /^Basic (.+)$/i.exec(headers.authorization ?? '') ?? [];
  if (basic !== undefined) {
    const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString('utf8').split(':');
    const decoded = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));
    return { method: 'client_secret_basic', clientId: decoded(id), secret: decoded(secret) };
  }
  const clientId = form.get('client_id');
  const assertion = form.get('client_assertion');
  if (assertion !== null) {
    return { method: 'private_key_jwt', clientId: clientId ?? subjectOf(assertion), assertion };
  }
  if (clientId === null) return null;
  const secret = form.get('client_secret');
  return secret === null ? { method: 'none', clientId } : { method: 'client_secret_post', clientId, secret };
}

function subjectOf(assertion: string): string {
  const [, payload = ''] = assertion.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Json;
  return String(claims['sub']);
}

function authMethodOf(value: unknown): AuthorizationClient['authMethod'] {
  switch (value) {
    case 'none':
    case 'client_secret_basic':
    case 'client_secret_post':
    case 'private_key_jwt':
      return value;
    default:
      throw new OAuthErrorResponse('invalid_client_metadata', `unknown method ${String(value)}`);
  }
}

function keysOf(jwks: unknown): readonly JsonWebKey[] | undefined {
  const keys = (jwks as { keys?: unknown } | undefined)?.keys;
  return Array.isArray(keys) ? (keys as JsonWebKey[]) : undefined;
}

interface AssertionContext {
  readonly audiences: readonly string[];
  readonly now: number;
  /** Used `jti` values: an assertion is accepted once. */
  readonly usedIds: Set<string>;
}

/** RFC 7523 section 3: signature, issuer and subject, audience, time, single use. */
function verifyAssertion(
  assertion: string,
  { clientId, keys = [] }: AuthorizationClient,
  { audiences, now, usedIds }: AssertionContext,
): void {
  const reject = (reason: string): never => {
    throw new OAuthErrorResponse('invalid_client', `client assertion: ${reason}`);
  };
  const [encodedHeader = '', payload = '', signature = ''] = assertion.split('.');
  const header = decodePart(encodedHeader);
  const claims = decodePart(payload);
  const signed = Buffer.from(`${encodedHeader}.${payload}`);
  const raw = Buffer.from(signature, 'base64url');
  if (!keys.some((key) => matchesKeyId(key, header) && isSignedBy(key, String(header['alg']), signed, raw))) {
    reject('no known key verifies the signature');
  }
  if (claims['iss'] !== clientId || claims['sub'] !== clientId) reject('iss and sub must be the client id');
  const audience = [claims['aud']].flat();
  if (!audience.some((each) => audiences.includes(String(each)))) reject('wrong audience');
  if (typeof claims['exp'] !== 'number' || claims['exp'] * 1_000 <= now) reject('expired');
  const id = String(claims['jti']);
  if (claims['jti'] === undefined || usedIds.has(id)) reject('jti was used before');
  usedIds.add(id);
}

function decodePart(text: string): Json {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Json;
  } catch {
    return {};
  }
}

function matchesKeyId(key: JsonWebKey, { kid }: Json): boolean {
  return kid === undefined || key['kid'] === undefined || key['kid'] === kid;
}

function isSignedBy(jwk: JsonWebKey, alg: string, signed: Buffer, signature: Buffer): boolean {
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  switch (alg) {
    case 'ES256':
      return verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature);
    case 'RS256':
      return verify('sha256', signed, key, signature);
    case 'PS256':
      return verify(
        'sha256',
        signed,
        { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
        signature,
      );
    case 'EdDSA':
      return verify(null, signed, key, signature);
    default:
      return false;
  }
}
