import { parseUrl } from '@behalf/contracts';
import { type Clock, type Fetch, createSingleFlight, readBoundedText } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { ServerSnapshot } from '../../servers/definition.ts';
import type { ReadNetworkError } from '../../upstream/upstreamError.ts';
import { createLruMap } from '../lruMap.ts';
import { canonicalizeUrl, getOrigin, isSafeEndpointOf, isSafeUrl } from './addresses.ts';
import { parseScopeNames } from './scopes.ts';
import { SignInImpossible, type SignInTarget, createUnavailableError } from './signInTarget.ts';

const LIFETIME_MS = 60 * 60 * 1000;
const MAX_ENTRIES = 1_000;

/** How the way to an issuer was judged. What is read over one is not shown to who may not go it. */
interface MetadataScope {
  readonly audience: ServerSnapshot['audience'];
  readonly isConfigured: boolean;
}

interface MetadataCache {
  /** Null where the issuer publishes nothing. */
  read(
    parts: DocumentReaderParts,
    scope: MetadataScope,
    issuer: string,
  ): Promise<AuthorizationServerMetadata | null>;
  /** An endpoint was gone: what is known is of no use any more. */
  forget(issuer: string): void;
}

/** Metadata of authorization servers, an hour at most. */
export function createMetadataCache(): MetadataCache {
  const cache = createLruMap<AuthorizationServerMetadata>(MAX_ENTRIES);
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
        // It says something else of itself now: what it said before does not count any more.
        if (error instanceof SignInImpossible) cache.delete(key);
        throw error;
      }
    },
    forget(issuer) {
      for (const audience of audiences) {
        for (const isConfigured of [true, false]) cache.delete(keyOf({ audience, isConfigured }, issuer));
      }
    },
  };
}

/** An authorization server as it describes itself, every address of it checked. */
export interface AuthorizationServerMetadata {
  readonly issuer: string;
  /** False: the definition gives endpoints and no name; the token endpoint stands for it. */
  readonly hasIssuerIdentifier: boolean;
  /** Null: it gives tokens to programs alone. */
  readonly authorizationEndpoint: string | null;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | null;
  readonly revocationEndpoint: string | null;
  readonly jwksUri: string | null;
  /** RFC 9207: each of its responses names it. */
  readonly isIssParameterSupported: boolean;
  /** Null: it does not say. */
  readonly scopes: readonly string[] | null;
  readonly authMethods: readonly string[] | null;
  readonly codeChallengeMethods: readonly string[] | null;
  /** `client_id` may be the address of a document about the client. */
  readonly supportsClientDocuments: boolean;
  /** Algorithms of DPoP proofs (RFC 9449, section 5.1). Null: it does not say. */
  readonly dpopAlgorithms: readonly string[] | null;
  readonly fetchedAt: number;
}

/** Where the metadata of an issuer stands, in order (RFC 8414, section 3; OpenID Connect Discovery 1.0, section 4). */
function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/+$/, '');
  const oauth = `${origin}/.well-known/oauth-authorization-server${path}`;
  const openid = '/.well-known/openid-configuration';
  return path === ''
    ? [oauth, `${origin}${openid}`]
    : [oauth, `${origin}${openid}${path}`, `${origin}${path}${openid}`];
}

/** It is kept with every grant and shown to people. */
const MAX_ISSUER_LENGTH = 512;

/** A name that metadata can stand under: no query, no fragment (RFC 8414, section 2). */
export function isValidIssuer(text: string): boolean {
  return text.length <= MAX_ISSUER_LENGTH && isSafeUrl(text) && !text.includes('?');
}

/** Letter by letter: whoever heals a slash or a case here takes one server for another (RFC 8414, section 3.3). */
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
    document[name] === undefined || document[name] === null ? null : requiredUrl(name);
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

/** Where MCP 2025-03-26 says that an authorization server without metadata has its endpoints. */
export function legacyMetadata(origin: string, fetchedAt: number): AuthorizationServerMetadata {
  return {
    issuer: origin,
    hasIssuerIdentifier: true,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    registrationEndpoint: `${origin}/register`,
    revocationEndpoint: null,
    jwksUri: null,
    isIssParameterSupported: false,
    scopes: null,
    authMethods: null,
    // That revision demands PKCE of every client and server.
    codeChallengeMethods: ['S256'],
    supportsClientDocuments: false,
    dpopAlgorithms: null,
    fetchedAt,
  };
}

const WELL_KNOWN_PATH = '/.well-known/oauth-protected-resource';
/** More than these are nobody's. */
const MAX_SERVERS = 10;

/** What a server says of itself (RFC 9728). */
export interface ProtectedResource {
  /** The name it goes by, in our spelling. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly string[] | null;
  /** It takes no token that is not bound to a key (RFC 9728, section 2). */
  readonly requiresDpop: boolean;
}

/** Null where it publishes nothing. `place`: what its challenge named, which is then the only place. */
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

function wellKnownUrls({ canonicalUrl: serverUrl }: SignInTarget): readonly string[] {
  const { origin, pathname } = new URL(serverUrl);
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
 * What the document may call the server (RFC 9728, section 3.3): the address that is called, or what the operator says in its
 * place. Of an operator's server the document at the root of the origin may also speak for all of it; one from elsewhere may not, and
 * of nobody else's server any: one of several tenants of a host would get tokens that are good at the others.
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

/** As many as are kept of what somebody publishes. */
const MAX_STRINGS = 1_000;

function readStrings(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) return null;
  return value.slice(0, MAX_STRINGS);
}

const MAX_BYTES = 256 * 1024;
const MAX_REDIRECTS = 3;

type MetadataDocument = Readonly<Record<string, unknown>>;

export interface DocumentReaderParts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** For one answer. */
  readonly timeoutMs: number;
  readonly readError: ReadNetworkError;
}

/**
 * A JSON object that somebody publishes about themselves; null where there is none. Redirects are followed within the origin
 * alone: who publishes is who owns the place. Rejects while nobody can say, so that an outage never looks like an absence.
 */
async function readDocument(parts: DocumentReaderParts, url: string): Promise<MetadataDocument | null> {
  const { clock } = parts;
  const abort = new AbortController();
  const cancel = clock.timer(parts.timeoutMs, () => abort.abort(new Error('the request timed out')), {
    keepAlive: true,
  });
  try {
    const response = await fetchWithRedirects(parts, url, abort.signal);
    if (response.status !== 200) {
      await response.body?.cancel();
      if (response.status >= 500 || response.status === 429) throw createUnavailableError();
      return null;
    }
    const text = await readBoundedText(response, MAX_BYTES);
    if (text === undefined) throw new SignInImpossible('metadata_invalid');
    return parseObject(text);
  } catch (error) {
    throw toNetworkError(error, parts.readError);
  } finally {
    cancel();
  }
}

async function fetchWithRedirects(
  { fetch }: DocumentReaderParts,
  url: string,
  signal: AbortSignal,
): Promise<Response> {
  let currentUrl = url;
  for (let redirectsLeft = MAX_REDIRECTS; ; redirectsLeft -= 1) {
    const response = await fetch(currentUrl, {
      headers: { accept: 'application/json' },
      redirect: 'manual',
      signal,
    });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    const nextUrl = parseUrl(location, currentUrl)?.href ?? '';
    if (redirectsLeft === 0 || !isSafeUrl(nextUrl) || getOrigin(nextUrl) !== getOrigin(url)) {
      throw new SignInImpossible('metadata_invalid');
    }
    currentUrl = nextUrl;
  }
}

/** A page that says "not found" in HTML with status 200 is no document either. */
function parseObject(text: string): MetadataDocument | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as MetadataDocument)
    : null;
}

/** What was refused is told as such; everything else may work in a moment. */
export function toNetworkError(error: unknown, readError: ReadNetworkError): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = readError(error)?.code;
  if (code === 'MCP_DOMAIN_NOT_ALLOWED') return new GatewayError(code, { cause: error });
  return createUnavailableError(error);
}
