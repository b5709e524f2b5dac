import { parseUrl } from '@behalf/contracts';
import { type Clock, type Fetch, LruMap, createSingleFlight } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { ServerSnapshot } from '../../definitions/definition.ts';
import type { ReadNetworkError } from '../../upstream/upstreamError.ts';
import { canonicalizeUrl, getOrigin, isSafeEndpointOf, isSafeUrl } from './addresses.ts';
import { parseScopeNames } from './scopes.ts';
import { SignInImpossible, type SignInTarget, createUnavailableError } from './signInTarget.ts';
import { parseJsonObject, sendRequest } from './tokenRequest.ts';

const LIFETIME_MS = 60 * 60 * 1000;
const MAX_ENTRIES = 1_000;

/**
 * The trust with which the egress judged the request. Metadata that was read with more trust is not shown to a server with less: it may
 * come from a private address.
 */
interface MetadataScope {
  readonly audience: ServerSnapshot['audience'];
  readonly isConfigured: boolean;
}

interface MetadataCache {
  /** Null if the issuer publishes no metadata. */
  read(
    parts: DocumentReaderParts,
    scope: MetadataScope,
    issuer: string,
  ): Promise<AuthorizationServerMetadata | null>;
  /** Call it when an endpoint no longer exists. */
  forget(issuer: string): void;
}

/** Authorization server metadata, cached for one hour. */
export function createMetadataCache(): MetadataCache {
  const cache = new LruMap<string, AuthorizationServerMetadata>(MAX_ENTRIES);
  const flights = createSingleFlight<AuthorizationServerMetadata | null>();
  const audiences = ['yaml-server', 'user-server'] as const;
  const keyOf = ({ audience, isConfigured }: MetadataScope, issuer: string) =>
    JSON.stringify([audience, isConfigured, issuer]);

  async function fetchMetadata(
    parts: DocumentReaderParts,
    issuer: string,
  ): Promise<AuthorizationServerMetadata | null> {
    const startedAt = parts.clock.now();
    for (const url of metadataUrls(issuer)) {
      const document = await readDocument(parts, url);
      if (document) return parseMetadata(document, issuer, startedAt);
    }
    return null;
  }

  return {
    async read(parts, scope, issuer) {
      const key = keyOf(scope, issuer);
      const cached = cache.get(key);
      if (cached && parts.clock.now() - cached.fetchedAt < LIFETIME_MS) return cached;
      try {
        const metadata = await flights.run([key], () => fetchMetadata(parts, issuer), { detached: true });
        if (metadata) cache.set(key, metadata);
        return metadata;
      } catch (error) {
        // The current document is invalid, so the cached one no longer applies.
        if (error instanceof SignInImpossible) cache.delete(key);
        throw error;
      }
    },
    forget(issuer) {
      for (const audience of audiences)
        for (const isConfigured of [true, false]) cache.delete(keyOf({ audience, isConfigured }, issuer));
    },
  };
}

/** Authorization server metadata (RFC 8414). Every URL was checked with `isSafeEndpointOf`. */
export interface AuthorizationServerMetadata {
  readonly issuer: string;
  /** False: the definition contains endpoints and no issuer, so `issuer` is the token endpoint. */
  readonly hasIssuerIdentifier: boolean;
  /** Null: the server supports only grants without a user. */
  readonly authorizationEndpoint: string | null;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | null;
  readonly revocationEndpoint: string | null;
  readonly jwksUri: string | null;
  /** RFC 9207: authorization responses contain `iss`. */
  readonly isIssParameterSupported: boolean;
  /** Null, here and below: the metadata does not say. */
  readonly scopes: readonly string[] | null;
  readonly authMethods: readonly string[] | null;
  readonly codeChallengeMethods: readonly string[] | null;
  /** A client id may be the URL of a client ID metadata document. */
  readonly supportsClientDocuments: boolean;
  /** Algorithms of DPoP proofs (RFC 9449, section 5.1). */
  readonly dpopAlgorithms: readonly string[] | null;
  readonly fetchedAt: number;
}

/** RFC 8414, section 3; OpenID Connect Discovery 1.0, section 4. */
function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/+$/, '');
  const oauth = `${origin}/.well-known/oauth-authorization-server${path}`;
  const openid = '/.well-known/openid-configuration';
  return path === ''
    ? [oauth, `${origin}${openid}`]
    : [oauth, `${origin}${openid}${path}`, `${origin}${path}${openid}`];
}

/** The issuer is stored with every grant and displayed. */
const MAX_ISSUER_LENGTH = 512;

/** RFC 8414, section 2: no query and no fragment. */
export function isValidIssuer(text: string): boolean {
  return text.length <= MAX_ISSUER_LENGTH && isSafeUrl(text) && !text.includes('?');
}

/** RFC 8414, section 3.3: the issuer is compared without normalization. Otherwise one server could pass as another. */
function parseMetadata(
  document: MetadataDocument,
  issuer: string,
  fetchedAt: number,
): AuthorizationServerMetadata {
  if (document['issuer'] !== issuer) throw new SignInImpossible('issuer_mismatch');
  const requiredUrl = (name: string): string => {
    const url = document[name];
    if (!isSafeEndpointOf(issuer, url)) throw new SignInImpossible('metadata_invalid');
    return url;
  };
  const optionalUrl = (name: string): string | null =>
    (document[name] ?? null) === null ? null : requiredUrl(name);
  return {
    issuer,
    hasIssuerIdentifier: true,
    authorizationEndpoint: optionalUrl('authorization_endpoint'),
    tokenEndpoint: requiredUrl('token_endpoint'),
    registrationEndpoint: optionalUrl('registration_endpoint'),
    revocationEndpoint: optionalUrl('revocation_endpoint'),
    jwksUri: optionalUrl('jwks_uri'),
    isIssParameterSupported: document['authorization_response_iss_parameter_supported'] === true,
    scopes: readStrings(document['scopes_supported']),
    authMethods: readStrings(document['token_endpoint_auth_methods_supported']),
    codeChallengeMethods: readStrings(document['code_challenge_methods_supported']),
    supportsClientDocuments: document['client_id_metadata_document_supported'] === true,
    dpopAlgorithms: readStrings(document['dpop_signing_alg_values_supported']),
    fetchedAt,
  };
}

/** Values of an authorization server that publishes no metadata. */
export const undiscoveredMetadata = {
  hasIssuerIdentifier: true,
  registrationEndpoint: null,
  revocationEndpoint: null,
  jwksUri: null,
  isIssParameterSupported: false,
  scopes: null,
  authMethods: null,
  supportsClientDocuments: false,
  dpopAlgorithms: null,
} as const;

/** The default endpoints of MCP 2025-03-26 for an authorization server without metadata. */
export function legacyMetadata(origin: string, fetchedAt: number): AuthorizationServerMetadata {
  return {
    ...undiscoveredMetadata,
    issuer: origin,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    registrationEndpoint: `${origin}/register`,
    // That revision requires PKCE of every client and server.
    codeChallengeMethods: ['S256'],
    fetchedAt,
  };
}

const WELL_KNOWN_PATH = '/.well-known/oauth-protected-resource';
const MAX_SERVERS = 10;

/** Protected resource metadata (RFC 9728). */
export interface ProtectedResource {
  /** The resource identifier, in canonical form. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly string[] | null;
  /** RFC 9728, section 2: the server accepts DPoP-bound tokens only. */
  readonly requiresDpop: boolean;
}

/** Null if the server publishes no metadata. If the challenge contains `resource_metadata`, only that URL is read. */
export async function readProtectedResource(
  parts: DocumentReaderParts,
  target: SignInTarget,
  metadataUrl: string | undefined,
): Promise<ProtectedResource | null> {
  for (const url of metadataUrl === undefined ? wellKnownUrls(target) : [metadataUrl]) {
    if (!isSafeUrl(url)) throw new SignInImpossible('metadata_invalid');
    const document = await readDocument(parts, url);
    if (document) return parseProtectedResource(document, target, url);
  }
  if (metadataUrl !== undefined) throw new SignInImpossible('no_metadata');
  return null;
}

function wellKnownUrls({ canonicalUrl }: SignInTarget): readonly string[] {
  const { origin, pathname } = new URL(canonicalUrl);
  const root = `${origin}${WELL_KNOWN_PATH}`;
  return pathname === '/' ? [root] : [`${root}${pathname}`, root];
}

function parseProtectedResource(
  document: MetadataDocument,
  target: SignInTarget,
  url: string,
): ProtectedResource {
  const { resource, authorization_servers: servers, scopes_supported: scopes } = document;
  const resourceUrl =
    typeof resource === 'string' ? canonicalizeUrl(resource, { includeQuery: true }) : undefined;
  if (resourceUrl === undefined || !listAcceptedResources(target, url).includes(resourceUrl))
    throw new SignInImpossible('resource_mismatch');
  return {
    resource: resourceUrl,
    authorizationServers: readStrings(servers)?.slice(0, MAX_SERVERS) ?? [],
    scopes: parseScopeNames(scopes),
    requiresDpop: document['dpop_bound_access_tokens_required'] === true,
  };
}

/**
 * Resource identifiers that the document may contain (RFC 9728, section 3.3): the server URL, or the configured `oauth.resource`. For a
 * server of the operator, the document at the root may also name the whole origin. Other servers may not: on a shared host, one tenant
 * would receive tokens that are valid at the other tenants.
 */
function listAcceptedResources(target: SignInTarget, url: string): readonly (string | undefined)[] {
  const origin = getOrigin(target.canonicalUrl);
  const { resource } = target.oauth;
  return [
    target.canonicalUrl,
    canonicalizeUrl(target.url, { includeQuery: true }),
    ...(target.isOperatorDefined && url === `${origin}${WELL_KNOWN_PATH}` ? [origin] : []),
    ...(target.isOperatorDefined && resource !== undefined
      ? [canonicalizeUrl(resource, { includeQuery: true })]
      : []),
  ];
}

/** Limit of each published list. */
const MAX_STRINGS = 1_000;

function readStrings(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) return null;
  return value.slice(0, MAX_STRINGS);
}

const MAX_REDIRECTS = 3;

type MetadataDocument = Readonly<Record<string, unknown>>;

export interface DocumentReaderParts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** For one document, redirects included. */
  readonly timeoutMs: number;
  readonly readError: ReadNetworkError;
}

/**
 * A published JSON object; null if there is none. Follows redirects within the origin only: the owner of the origin publishes the
 * document. A temporary failure rejects, so that an outage is never taken for missing metadata.
 */
async function readDocument(parts: DocumentReaderParts, url: string): Promise<MetadataDocument | null> {
  const { fetch, clock, timeoutMs, readError } = parts;
  const deadline = clock.now() + timeoutMs;
  let currentUrl = url;
  for (let redirectsLeft = MAX_REDIRECTS; ; redirectsLeft -= 1) {
    const needsBody = (code: number) => code === 200;
    const request = { url: currentUrl, method: 'GET', headers: {}, fetch, clock, needsBody } as const;
    const response = await sendRequest({ ...request, timeoutMs: deadline - clock.now() }).catch(
      (error: unknown) => {
        throw toNetworkError(error, readError);
      },
    );
    const { status, text } = response;
    const location = response.header('location');
    if (status >= 300 && status <= 399 && location !== undefined) {
      const nextUrl = parseUrl(location, currentUrl)?.href ?? '';
      if (redirectsLeft === 0 || !isSafeUrl(nextUrl) || getOrigin(nextUrl) !== getOrigin(url))
        throw new SignInImpossible('metadata_invalid');
      currentUrl = nextUrl;
      continue;
    }
    if (status >= 500 || status === 429) throw createUnavailableError();
    if (status !== 200) return null;
    if (text === undefined) throw new SignInImpossible('metadata_invalid');
    // An HTML error page with status 200 is not a document either.
    return parseJsonObject(text) ?? null;
  }
}

/** A refusal of the egress is permanent. Every other network error is temporary. */
export function toNetworkError(error: unknown, readError: ReadNetworkError): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = readError(error)?.code;
  if (code === 'MCP_DOMAIN_NOT_ALLOWED') return new GatewayError(code, { cause: error });
  return createUnavailableError(error);
}
