import type { Clock } from '@behalf/kernel';
import type { Log } from '../../../upstream/parts.ts';
import type { Challenge } from '../../../upstream/upstreamError.ts';
import { assumesS256, type IssuerSettings } from '../issuerSettings.ts';
import type { IssuerRules } from '../issuerRules.ts';
import type { OAuthNetwork } from '../oauthNetwork.ts';
import { isSafeEndpointOf, getOrigin } from '../safeUrl.ts';
import { SignInImpossible } from '../signInProblem.ts';
import type { SignInTarget } from '../signInTarget.ts';
import { probeChallenge } from './probeChallenge.ts';
import { shouldUseDpop } from './shouldUseDpop.ts';
import {
  isValidIssuer,
  legacyMetadata,
  type AuthorizationServerMetadata,
} from './authorizationServerMetadata.ts';
import { readConfiguredServer, withConfiguredEndpoints } from './configuredServer.ts';
import { hasTrustedKeySet } from './keySet.ts';
import { createMetadataCache } from './metadataCache.ts';
import { readProtectedResource, type ProtectedResource } from './protectedResource.ts';
import { toNetworkError, type DocumentReaderParts } from './readDocument.ts';
import { resolveResourceRule, resourceToSend } from './resourceRule.ts';
import { parseScopeText } from './scopeNames.ts';

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

export interface OAuthDiscoveryParts {
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
