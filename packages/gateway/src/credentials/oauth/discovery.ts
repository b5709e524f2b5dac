import type { Clock, Fetch } from '@behalf/kernel';
import { readChallenge } from '../../upstream/http/errors.ts';
import { createModernEnvelope, createModernRequestHeaders } from '../../upstream/http/serializeRequest.ts';
import type { HeaderValues, Log } from '../../upstream/upstream.ts';
import type { Challenge } from '../../upstream/upstreamError.ts';
import { getOrigin, isSafeEndpointOf, isSafeUrl } from './addresses.ts';
import type { DpopMode } from './grantContext.ts';
import { type IssuerRules, type IssuerSettings, assumesS256, listEndpointOrigins } from './issuers.ts';
import {
  type AuthorizationServerMetadata,
  type DocumentReaderParts,
  type ProtectedResource,
  createMetadataCache,
  isValidIssuer,
  legacyMetadata,
  readProtectedResource,
  toNetworkError,
} from './metadata.ts';
import type { OAuthNetwork } from './network.ts';
import { parseScopeText, resolveResourceRule, resourceToSend } from './scopes.ts';
import { SignInImpossible, type SignInTarget } from './signInTarget.ts';

/** Where the users of a server sign in, everything checked. */
export interface DiscoveredServer {
  readonly asMetadata: AuthorizationServerMetadata;
  /** RFC 8707, as it is sent; null: not at all. */
  readonly resource: string | null;
  /** Whether users are told first whose tokens go where. */
  readonly requiresConfirmation: boolean;
  readonly challengedScope: string | undefined;
  readonly publishedScopes: readonly string[] | null;
  /** Whether tokens are bound to a key. */
  readonly usesDpop: boolean;
}

export interface OAuthDiscovery {
  /** `challenge`: what the server said when it refused; absent: it is asked. */
  discover(target: SignInTarget, challenge?: Challenge): Promise<DiscoveredServer>;
  /** The same authorization server again, asked anew: its endpoints have moved. Null when it is not the same any more. */
  rediscover(target: SignInTarget, issuer: string): Promise<AuthorizationServerMetadata | null>;
  /** An endpoint of it is gone: the next sign-in asks anew. */
  forget(issuer: string): void;
  /** The authorization server that a server of the operator's uses now: it must be one, not only be named. Empty: none. */
  readIssuers(target: SignInTarget): Promise<readonly string[]>;
}

interface OAuthDiscoveryParts {
  readonly network: OAuthNetwork;
  readonly clock: Clock;
  readonly log: Log;
  readonly issuerSettings: () => IssuerSettings;
  readonly rules: IssuerRules;
  /** For one answer of the server, or of its authorization server. */
  readonly timeoutMs: number;
}

export function createOAuthDiscovery(parts: OAuthDiscoveryParts): OAuthDiscovery {
  const { network, clock, log, issuerSettings, rules } = parts;
  const metadata = createMetadataCache();

  /** `issuer`: the authorization server that is read; null: the server itself. */
  const toReaderParts = (target: SignInTarget, issuer: string | null): DocumentReaderParts => ({
    fetch: network.fetchFor(target, issuer),
    clock,
    timeoutMs: parts.timeoutMs,
    readError: network.readError,
  });

  function readCachedMetadata(
    target: SignInTarget,
    issuer: string,
  ): Promise<AuthorizationServerMetadata | null> {
    const { audience } = target.server;
    const scope = { audience, isConfigured: network.isConfigured(target, issuer) };
    return metadata.read(toReaderParts(target, issuer), scope, issuer);
  }

  async function requireMetadata(target: SignInTarget, issuer: string): Promise<AuthorizationServerMetadata> {
    if (!isValidIssuer(issuer)) throw new SignInImpossible('metadata_invalid');
    const metadataOfIssuer = await readCachedMetadata(target, issuer);
    if (metadataOfIssuer) return withConfiguredEndpoints(metadataOfIssuer, target);
    throw new SignInImpossible('no_metadata');
  }

  /** Of MCP 2025-03-26: the server is its own authorization server, with or without metadata. */
  async function readLegacyServer(target: SignInTarget): Promise<AuthorizationServerMetadata> {
    const origin = getOrigin(target.canonicalUrl);
    const metadataOfIssuer = await readCachedMetadata(target, origin);
    return withConfiguredEndpoints(metadataOfIssuer ?? legacyMetadata(origin, clock.now()), target);
  }

  /** The one that the definition names; else the first that this server may name. */
  async function selectIssuer(target: SignInTarget, candidates: readonly string[]): Promise<string> {
    const { issuer } = target.oauth;
    if (issuer !== undefined) {
      if (candidates.includes(issuer)) return issuer;
      throw new SignInImpossible('no_authorization_server');
    }
    const usable = candidates.filter(isValidIssuer);
    for (const candidate of usable) if (await rules.isIssuerAllowed(target, candidate)) return candidate;
    const [refused] = usable;
    if (refused === undefined) throw new SignInImpossible('no_authorization_server');
    // Its check says why.
    return refused;
  }

  async function resolveServer(
    target: SignInTarget,
    published: ProtectedResource | null,
  ): Promise<AuthorizationServerMetadata> {
    if (published) return requireMetadata(target, await selectIssuer(target, published.authorizationServers));
    if (target.oauth.issuer !== undefined) return requireMetadata(target, target.oauth.issuer);
    if (target.isOperatorDefined && target.oauth.raw.legacyAuthDiscovery) return readLegacyServer(target);
    throw new SignInImpossible('no_metadata');
  }

  /** What a user writes down says nothing of it. Then the authorization server itself must, of these very endpoints. */
  async function advertisesS256(
    target: SignInTarget,
    asMetadata: AuthorizationServerMetadata,
  ): Promise<boolean> {
    if (target.isOperatorDefined || !readConfiguredServer(target, clock.now())) return false;
    const issuer = asMetadata.hasIssuerIdentifier ? asMetadata.issuer : getOrigin(asMetadata.tokenEndpoint);
    const metadataOfIssuer = isValidIssuer(issuer) ? await readCachedMetadata(target, issuer) : null;
    return (
      metadataOfIssuer?.tokenEndpoint === asMetadata.tokenEndpoint &&
      metadataOfIssuer.authorizationEndpoint === asMetadata.authorizationEndpoint &&
      metadataOfIssuer.codeChallengeMethods?.includes('S256') === true
    );
  }

  async function requireS256(target: SignInTarget, asMetadata: AuthorizationServerMetadata): Promise<void> {
    if (asMetadata.codeChallengeMethods?.includes('S256')) return;
    const isWaived = target.isOperatorDefined && target.oauth.raw.skip_code_challenge_check === true;
    if (
      isWaived ||
      assumesS256(issuerSettings(), asMetadata.issuer) ||
      (await advertisesS256(target, asMetadata))
    )
      return;
    throw new SignInImpossible('pkce_missing');
  }

  /** Everything that makes an authorization server fit for this server, whoever told us of it. */
  async function checkServer(target: SignInTarget, asMetadata: AuthorizationServerMetadata): Promise<void> {
    await rules.requireAllowed(target, asMetadata);
    if (target.oauth.raw.grant === 'client_credentials') return;
    await requireS256(target, asMetadata);
    if (
      asMetadata.authorizationEndpoint === null ||
      !isSafeEndpointOf(asMetadata.issuer, asMetadata.authorizationEndpoint)
    ) {
      throw new SignInImpossible('metadata_invalid');
    }
    // No request of ours goes there, and still it must not be a place that the server may not send anybody to.
    try {
      await network.checkUrl(target, asMetadata.issuer, asMetadata.authorizationEndpoint);
    } catch (error) {
      throw toNetworkError(error, network.readError);
    }
  }

  function selectResource(
    target: SignInTarget,
    asMetadata: AuthorizationServerMetadata,
    published: ProtectedResource | null,
  ): string | null {
    const rule = resolveResourceRule(target, issuerSettings(), asMetadata.issuer);
    if (rule.kind === 'omit') log('oauth_resource_omitted', { server: target.server.name });
    return resourceToSend(rule, published?.resource ?? target.canonicalUrl);
  }

  /** Nothing is decided by a key set: one that stands elsewhere is told of and left alone. */
  function withoutForeignKeySet(
    target: SignInTarget,
    asMetadata: AuthorizationServerMetadata,
  ): AuthorizationServerMetadata {
    if (hasTrustedKeySet(asMetadata, issuerSettings())) return asMetadata;
    log('oauth_jwks_origin_mismatch', { server: target.server.name });
    return { ...asMetadata, jwksUri: null };
  }

  async function discover(target: SignInTarget, knownChallenge?: Challenge): Promise<DiscoveredServer> {
    const configuredMetadata = readConfiguredServer(target, clock.now());
    const readerParts = toReaderParts(target, null);
    const challenge = configuredMetadata
      ? knownChallenge
      : (knownChallenge ?? (await probeChallenge(readerParts, target)));
    const published = configuredMetadata
      ? null
      : await readProtectedResource(readerParts, target, challenge?.resourceMetadata);
    const asMetadata = configuredMetadata ?? (await resolveServer(target, published));
    await checkServer(target, asMetadata);
    return {
      asMetadata: withoutForeignKeySet(target, asMetadata),
      resource: selectResource(target, asMetadata, published),
      requiresConfirmation: rules.requiresConfirmation(target, asMetadata),
      challengedScope: parseScopeText(challenge?.scope),
      publishedScopes: published?.scopes ?? null,
      usesDpop: shouldUseDpop({ mode: target.oauth.raw.dpop, asMetadata, published, challenge }),
    };
  }

  return {
    async discover(target, challenge) {
      try {
        return await discover(target, challenge);
      } catch (error) {
        if (error instanceof SignInImpossible) {
          log('oauth_discovery_failed', { server: target.server.name, reason: error.problem });
        }
        throw error;
      }
    },
    async rediscover(target, issuer) {
      if (readConfiguredServer(target, clock.now())) return null;
      metadata.forget(issuer);
      try {
        const asMetadata = await requireMetadata(target, issuer);
        await checkServer(target, asMetadata);
        return asMetadata;
      } catch (error) {
        if (error instanceof SignInImpossible) return null;
        throw error;
      }
    },
    forget: (issuer) => metadata.forget(issuer),
    async readIssuers(target) {
      const readerParts = toReaderParts(target, null);
      const challenge = await probeChallenge(readerParts, target);
      const published = await readProtectedResource(readerParts, target, challenge?.resourceMetadata);
      if (!published && !target.oauth.raw.legacyAuthDiscovery) return [];
      return [(await resolveServer(target, published)).issuer];
    },
  };
}

/**
 * The authorization server that the definition writes down; undefined where it leaves something to be discovered. Without a name
 * its token endpoint stands for it: another endpoint is then another authorization server, and nothing given by the one is taken
 * to the other.
 */
function readConfiguredServer(target: SignInTarget, now: number): AuthorizationServerMetadata | undefined {
  const { authorizationUrl, tokenUrl, revocationUrl, issuer = tokenUrl, raw } = target.oauth;
  const usesClientCredentials = raw.grant === 'client_credentials';
  if (tokenUrl === undefined || issuer === undefined) return undefined;
  if (authorizationUrl === undefined && !usesClientCredentials) return undefined;
  if (!isSafeUrl(issuer)) throw new SignInImpossible('metadata_invalid');
  for (const url of [authorizationUrl, tokenUrl, revocationUrl]) {
    if (url !== undefined && !isSafeEndpointOf(issuer, url)) throw new SignInImpossible('metadata_invalid');
  }
  return {
    issuer,
    hasIssuerIdentifier: target.oauth.issuer !== undefined,
    authorizationEndpoint: authorizationUrl ?? null,
    tokenEndpoint: tokenUrl,
    registrationEndpoint: null,
    revocationEndpoint: revocationUrl ?? null,
    jwksUri: null,
    isIssParameterSupported: false,
    scopes: null,
    authMethods: raw.token_endpoint_auth_methods_supported ?? null,
    // Nobody advertises anything here. On the operator's word it is used all the same.
    codeChallengeMethods: target.isOperatorDefined
      ? (raw.code_challenge_methods_supported ?? ['S256'])
      : null,
    supportsClientDocuments: false,
    dpopAlgorithms: null,
    fetchedAt: now,
  };
}

/** What is written down beside a name takes the place of what was discovered. */
function withConfiguredEndpoints(
  asMetadata: AuthorizationServerMetadata,
  { oauth }: SignInTarget,
): AuthorizationServerMetadata {
  const { authorizationUrl, tokenUrl, revocationUrl, raw } = oauth;
  return {
    ...asMetadata,
    authorizationEndpoint: authorizationUrl ?? asMetadata.authorizationEndpoint,
    tokenEndpoint: tokenUrl ?? asMetadata.tokenEndpoint,
    revocationEndpoint: revocationUrl ?? asMetadata.revocationEndpoint,
    authMethods: raw.token_endpoint_auth_methods_supported ?? asMetadata.authMethods,
  };
}

/** Whether its key set stands where its endpoints may: what an issuer names elsewhere is not asked for on its word. */
function hasTrustedKeySet(
  { issuer, jwksUri }: AuthorizationServerMetadata,
  issuerSettings: IssuerSettings,
): boolean {
  if (jwksUri === null) return true;
  return [getOrigin(issuer), ...listEndpointOrigins(issuerSettings, issuer)].includes(getOrigin(jwksUri));
}

const CLIENT_VERSION = '0';

/** What every conversation begins with: whoever wants a token for all there is refuses it. */
const INITIALIZE_REQUEST = {
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'behalf', version: CLIENT_VERSION },
  },
};

const LIST_METHOD = 'tools/list';

/**
 * What the server says when it is asked without a token. Undefined when it says nothing, does not answer, or may not be asked:
 * then its metadata is looked for where it always stands, and that fails for the same reason.
 */
async function probeChallenge(
  parts: DocumentReaderParts,
  target: SignInTarget,
): Promise<Challenge | undefined> {
  const { clock } = parts;
  const { type } = target.server.settings;
  if (type === 'websocket') return undefined;
  const abort = new AbortController();
  const cancel = clock.timer(parts.timeoutMs, () => abort.abort(new Error('the request timed out')), {
    keepAlive: true,
  });
  const fetch: Fetch = (url, init) => parts.fetch(url, { ...init, redirect: 'error', signal: abort.signal });
  try {
    return await (type === 'sse' ? probeStream(fetch, target.url) : probeRequests(fetch, target.url));
  } catch {
    return undefined;
  } finally {
    cancel();
  }
}

async function probeStream(fetch: Fetch, url: string): Promise<Challenge | undefined> {
  const response = await fetch(url, { headers: { accept: 'text/event-stream' } });
  await response.body?.cancel();
  return readResponseChallenge(response);
}

/** Some let everybody in and want a token for what they have, and some know no `initialize` any more. */
async function probeRequests(fetch: Fetch, url: string): Promise<Challenge | undefined> {
  const first = await post(fetch, url, INITIALIZE_REQUEST, {});
  if (first.status === 401 || first.status >= 500) return readResponseChallenge(first);
  const session = first.headers.get('mcp-session-id');
  const sessionHeaders = session === null ? undefined : { 'mcp-session-id': session };
  const second = first.ok
    ? await post(fetch, url, { method: LIST_METHOD, params: {} }, sessionHeaders ?? {})
    : await post(
        fetch,
        url,
        { method: LIST_METHOD, params: { _meta: createModernEnvelope(CLIENT_VERSION) } },
        createModernRequestHeaders(LIST_METHOD, {}),
      );
  if (sessionHeaders) await endSession(fetch, url, sessionHeaders);
  return readResponseChallenge(second);
}

/** What was begun for a question is not left behind; whether that works changes no answer. */
async function endSession(fetch: Fetch, url: string, headers: HeaderValues): Promise<void> {
  try {
    const response = await fetch(url, { method: 'DELETE', headers });
    await response.body?.cancel();
  } catch {
    // It ends by itself.
  }
}

async function post(fetch: Fetch, url: string, request: object, headers: HeaderValues): Promise<Response> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...request }),
  });
  await response.body?.cancel();
  return response;
}

function readResponseChallenge({ status, headers }: Response): Challenge | undefined {
  return status === 401 ? readChallenge(headers.get('www-authenticate') ?? undefined) : undefined;
}

const DPOP_ALGORITHM = 'ES256';

interface DpopInput {
  readonly mode: DpopMode | undefined;
  readonly asMetadata: Pick<AuthorizationServerMetadata, 'dpopAlgorithms'>;
  readonly published: Pick<ProtectedResource, 'requiresDpop'> | null;
  readonly challenge: Pick<Challenge, 'scheme'> | undefined;
}

/**
 * Whether tokens for a server are bound to a key: as the operator says, else where the server asks for it, by its metadata or its
 * challenge, and its authorization server can. Throws where they have to be and cannot.
 */
function shouldUseDpop({ mode = 'auto', asMetadata, published, challenge }: DpopInput): boolean {
  if (mode === 'off') return false;
  const { dpopAlgorithms } = asMetadata;
  const canUseDpop = dpopAlgorithms?.includes(DPOP_ALGORITHM) === true;
  if (mode === 'auto')
    return canUseDpop && (published?.requiresDpop === true || challenge?.scheme === 'dpop');
  // Who writes endpoints down has nobody who would say; then it is tried.
  if (!canUseDpop && dpopAlgorithms !== null) throw new SignInImpossible('dpop_unsupported');
  return true;
}
