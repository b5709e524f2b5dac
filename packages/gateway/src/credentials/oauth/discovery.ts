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
  undiscoveredMetadata,
} from './metadata.ts';
import type { OAuthNetwork } from './network.ts';
import { parseScopeText, resolveResourceRule, resourceToSend } from './scopes.ts';
import { SignInImpossible, type SignInTarget } from './signInTarget.ts';

/** The authorization server of an MCP server. All checks passed. */
export interface DiscoveredServer {
  readonly asMetadata: AuthorizationServerMetadata;
  /** `resource` of RFC 8707. Null: not sent. */
  readonly resource: string | null;
  /** Whether the user must confirm which host's tokens are sent to which server. */
  readonly requiresConfirmation: boolean;
  readonly challengedScope: string | undefined;
  readonly publishedScopes: readonly string[] | null;
  /** Whether tokens are bound to a key (DPoP). */
  readonly usesDpop: boolean;
}

export interface OAuthDiscovery {
  /** `challenge`: from a 401 of the server. If it is absent, the gateway requests one. */
  discover(target: SignInTarget, challenge?: Challenge): Promise<DiscoveredServer>;
  /** Reads the metadata of the same authorization server again after an endpoint moved. Null if the issuer no longer qualifies. */
  rediscover(target: SignInTarget, issuer: string): Promise<AuthorizationServerMetadata | null>;
  /** Drops cached metadata after an endpoint disappeared. */
  forget(issuer: string): void;
  /** The authorization server that an operator's server names, if it publishes metadata. */
  readIssuers(target: SignInTarget): Promise<readonly string[]>;
}

interface OAuthDiscoveryParts {
  readonly network: OAuthNetwork;
  readonly clock: Clock;
  readonly log: Log;
  readonly issuerSettings: () => IssuerSettings;
  readonly rules: IssuerRules;
  /** For one response of the server or its authorization server. */
  readonly timeoutMs: number;
}

/**
 * Finds the authorization server of an MCP server (RFC 9728, RFC 8414, MCP authorization). Values in the definition take precedence over
 * published ones. Invariants: the issuer is allowed for the server (`IssuerRules`), supports PKCE with S256, and all endpoints are safe.
 */
export function createOAuthDiscovery(parts: OAuthDiscoveryParts): OAuthDiscovery {
  const { network, clock, log, issuerSettings, rules, timeoutMs } = parts;
  const metadata = createMetadataCache();

  /** `issuer`: the authorization server to read. Null: the MCP server. */
  const toReaderParts = (target: SignInTarget, issuer: string | null): DocumentReaderParts => ({
    fetch: network.fetchFor(target, issuer),
    ...{ clock, timeoutMs, readError: network.readError },
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

  /** MCP 2025-03-26: the server is its own authorization server, with or without metadata. */
  async function readLegacyServer(target: SignInTarget): Promise<AuthorizationServerMetadata> {
    const origin = getOrigin(target.canonicalUrl);
    const metadataOfIssuer = await readCachedMetadata(target, origin);
    return withConfiguredEndpoints(metadataOfIssuer ?? legacyMetadata(origin, clock.now()), target);
  }

  /** The configured issuer, or the first published one that the server may name. */
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
    // `checkServer` refuses it with the reason.
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

  /** For endpoints that a user entered: the authorization server must advertise S256 for exactly these endpoints. */
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
    const supportsS256 =
      asMetadata.codeChallengeMethods?.includes('S256') ||
      (target.isOperatorDefined && target.oauth.raw.skip_code_challenge_check === true) ||
      assumesS256(issuerSettings(), asMetadata.issuer) ||
      (await advertisesS256(target, asMetadata));
    if (!supportsS256) throw new SignInImpossible('pkce_missing');
  }

  /** The checks for every authorization server, whether it was configured or discovered. */
  async function checkServer(target: SignInTarget, asMetadata: AuthorizationServerMetadata): Promise<void> {
    await rules.requireAllowed(target, asMetadata);
    if (target.oauth.raw.grant === 'client_credentials') return;
    await requireS256(target, asMetadata);
    const { issuer, authorizationEndpoint } = asMetadata;
    if (authorizationEndpoint === null || !isSafeEndpointOf(issuer, authorizationEndpoint))
      throw new SignInImpossible('metadata_invalid');
    // The gateway sends no request there, but it sends the user's browser.
    try {
      await network.checkUrl(target, issuer, authorizationEndpoint);
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

  /** Drops a key set outside the allowed origins. The sign-in continues: no decision depends on the key set. */
  function withoutForeignKeySet(
    target: SignInTarget,
    asMetadata: AuthorizationServerMetadata,
  ): AuthorizationServerMetadata {
    const { issuer, jwksUri } = asMetadata;
    const allowedOrigins = [getOrigin(issuer), ...listEndpointOrigins(issuerSettings(), issuer)];
    if (jwksUri === null || allowedOrigins.includes(getOrigin(jwksUri))) return asMetadata;
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
 * The authorization server in the definition. Undefined if the definition leaves something to discovery. Without an issuer, the token
 * endpoint identifies the authorization server: a grant is never used at another token endpoint.
 */
function readConfiguredServer(target: SignInTarget, now: number): AuthorizationServerMetadata | undefined {
  const { authorizationUrl, tokenUrl, revocationUrl, issuer = tokenUrl, raw } = target.oauth;
  if (tokenUrl === undefined || issuer === undefined) return undefined;
  if (authorizationUrl === undefined && raw.grant !== 'client_credentials') return undefined;
  if (!isSafeUrl(issuer)) throw new SignInImpossible('metadata_invalid');
  for (const url of [authorizationUrl, tokenUrl, revocationUrl]) {
    if (url !== undefined && !isSafeEndpointOf(issuer, url)) throw new SignInImpossible('metadata_invalid');
  }
  return {
    ...undiscoveredMetadata,
    issuer,
    hasIssuerIdentifier: target.oauth.issuer !== undefined,
    authorizationEndpoint: authorizationUrl ?? null,
    tokenEndpoint: tokenUrl,
    revocationEndpoint: revocationUrl ?? null,
    authMethods: raw.token_endpoint_auth_methods_supported ?? null,
    // There is no metadata that could advertise S256. For the operator's definition it is assumed.
    codeChallengeMethods: target.isOperatorDefined
      ? (raw.code_challenge_methods_supported ?? ['S256'])
      : null,
    fetchedAt: now,
  };
}

/** Endpoints in the definition replace discovered ones. */
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

const CLIENT_VERSION = '0';

/** A server that requires a token for every request answers its first request with 401. */
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
 * The challenge of the server to a request without a token. Undefined if the server sends none or cannot be reached. Discovery then
 * reads the metadata at its well-known location, which fails for the same reason if the server is down.
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

/** Some servers accept `initialize` without a token and require one for `tools/list`. Stateless servers have no `initialize`. */
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

/** Best effort: the server ends an abandoned session itself. */
async function endSession(fetch: Fetch, url: string, headers: HeaderValues): Promise<void> {
  const response = await fetch(url, { method: 'DELETE', headers }).catch(() => undefined);
  await response?.body?.cancel().catch(() => undefined);
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
 * Whether tokens are bound to a key. `auto`: if the server asks for it (metadata or challenge) and its authorization server supports it.
 * Throws if the operator requires binding and the authorization server does not support it.
 */
function shouldUseDpop({ mode = 'auto', asMetadata, published, challenge }: DpopInput): boolean {
  if (mode === 'off') return false;
  const { dpopAlgorithms } = asMetadata;
  const canUseDpop = dpopAlgorithms?.includes(DPOP_ALGORITHM) === true;
  if (mode === 'auto')
    return canUseDpop && (published?.requiresDpop === true || challenge?.scheme === 'dpop');
  // Configured endpoints have no metadata. Then the sign-in tries DPoP.
  if (!canUseDpop && dpopAlgorithms !== null) throw new SignInImpossible('dpop_unsupported');
  return true;
}
