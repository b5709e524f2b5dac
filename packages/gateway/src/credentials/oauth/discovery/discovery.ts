import type { Clock } from '@behalf/kernel';
import type { Log } from '../../../upstream/parts.ts';
import type { Challenge } from '../../../upstream/upstreamError.ts';
import { assumesS256, type IssuerBook } from '../issuerBook.ts';
import type { IssuerRules } from '../issuerRules.ts';
import type { OAuthNetwork } from '../oauthNetwork.ts';
import { isSafeEndpointOf, originOf } from '../safeUrl.ts';
import { SignInImpossible } from '../signInProblem.ts';
import type { SignInTarget } from '../signInTarget.ts';
import { askChallenge } from './askChallenge.ts';
import { bindsTokens } from './bindsTokens.ts';
import { isIssuer, withoutMetadata, type AuthorizationServer } from './authorizationServer.ts';
import { configuredServer, withConfigured } from './configuredServer.ts';
import { hasOwnKeySet } from './keySet.ts';
import { createMetadataCache } from './metadataCache.ts';
import { readProtectedResource, type ProtectedResource } from './protectedResource.ts';
import { networkProblem, type ReadingParts } from './readDocument.ts';
import { resourceRuleOf, resourceToSend } from './resourceRule.ts';
import { scopeText } from './scopeNames.ts';

/** Where the users of a server sign in, everything checked. */
export interface Discovered {
  readonly as: AuthorizationServer;
  /** RFC 8707, as it is sent; null: not at all. */
  readonly resource: string | null;
  /** Whether users are told first whose tokens go where. */
  readonly mustAsk: boolean;
  readonly challengedScope: string | undefined;
  readonly publishedScopes: readonly string[] | null;
  /** Whether tokens are bound to a key. */
  readonly bindsTokens: boolean;
}

export interface Discovery {
  /** `challenge`: what the server said when it refused; absent: it is asked. */
  discover(target: SignInTarget, challenge?: Challenge): Promise<Discovered>;
  /** The same authorization server again, asked anew: its endpoints have moved. Null when it is not the same any more. */
  again(target: SignInTarget, issuer: string): Promise<AuthorizationServer | null>;
  /** An endpoint of it is gone: the next sign-in asks anew. */
  forget(issuer: string): void;
  /** The authorization server that a server of the operator's uses now: it must be one, not only be named. Empty: none. */
  issuersOf(target: SignInTarget): Promise<readonly string[]>;
}

export interface DiscoveryParts {
  readonly network: OAuthNetwork;
  readonly clock: Clock;
  readonly log: Log;
  readonly book: () => IssuerBook;
  readonly rules: IssuerRules;
  /** For one answer of the server, or of its authorization server. */
  readonly patienceMs: number;
}

export function createDiscovery(parts: DiscoveryParts): Discovery {
  const { network, clock, log, book, rules } = parts;
  const metadata = createMetadataCache();

  /** `issuer`: the authorization server that is read; null: the server itself. */
  const readingFor = (target: SignInTarget, issuer: string | null): ReadingParts => ({
    fetch: network.fetchFor(target, issuer),
    clock,
    patienceMs: parts.patienceMs,
    readError: network.readError,
  });

  function read(target: SignInTarget, issuer: string): Promise<AuthorizationServer | null> {
    const { audience } = target.server;
    const scope = { audience, isVouched: network.isVouched(target, issuer) };
    return metadata.read(readingFor(target, issuer), scope, issuer);
  }

  async function metadataOf(target: SignInTarget, issuer: string): Promise<AuthorizationServer> {
    if (!isIssuer(issuer)) throw new SignInImpossible('metadata_invalid');
    const found = await read(target, issuer);
    if (found) return withConfigured(found, target);
    throw new SignInImpossible('no_metadata');
  }

  /** Of MCP 2025-03-26: the server is its own authorization server, with or without metadata. */
  async function legacyServer(target: SignInTarget): Promise<AuthorizationServer> {
    const origin = originOf(target.canonicalUrl);
    const found = await read(target, origin);
    return withConfigured(found ?? withoutMetadata(origin, clock.now()), target);
  }

  /** The one that the definition names; else the first that this server may name. */
  async function chosenIssuer(target: SignInTarget, named: readonly string[]): Promise<string> {
    const { issuer } = target.oauth;
    if (issuer !== undefined) {
      if (named.includes(issuer)) return issuer;
      throw new SignInImpossible('no_authorization_server');
    }
    const usable = named.filter(isIssuer);
    for (const candidate of usable) if (await rules.mayName(target, candidate)) return candidate;
    const [refused] = usable;
    if (refused === undefined) throw new SignInImpossible('no_authorization_server');
    // Its check says why.
    return refused;
  }

  async function serverOf(
    target: SignInTarget,
    published: ProtectedResource | null,
  ): Promise<AuthorizationServer> {
    if (published) return metadataOf(target, await chosenIssuer(target, published.authorizationServers));
    if (target.oauth.issuer !== undefined) return metadataOf(target, target.oauth.issuer);
    if (target.isOperators && target.oauth.plain.legacyAuthDiscovery) return legacyServer(target);
    throw new SignInImpossible('no_metadata');
  }

  /** What a user writes down says nothing of it. Then the authorization server itself must, of these very endpoints. */
  async function advertises(target: SignInTarget, as: AuthorizationServer): Promise<boolean> {
    if (target.isOperators || !configuredServer(target, clock.now())) return false;
    const issuer = as.isNamed ? as.issuer : originOf(as.tokenEndpoint);
    const found = isIssuer(issuer) ? await read(target, issuer) : null;
    return (
      found?.tokenEndpoint === as.tokenEndpoint &&
      found.authorizationEndpoint === as.authorizationEndpoint &&
      found.challengeMethods?.includes('S256') === true
    );
  }

  async function requireS256(target: SignInTarget, as: AuthorizationServer): Promise<void> {
    if (as.challengeMethods?.includes('S256')) return;
    const isWaived = target.isOperators && target.oauth.plain.skip_code_challenge_check === true;
    if (isWaived || assumesS256(book(), as.issuer) || (await advertises(target, as))) return;
    throw new SignInImpossible('pkce_missing');
  }

  /** Everything that makes an authorization server fit for this server, whoever told us of it. */
  async function check(target: SignInTarget, as: AuthorizationServer): Promise<void> {
    await rules.check(target, as);
    if (target.oauth.plain.grant === 'client_credentials') return;
    await requireS256(target, as);
    if (as.authorizationEndpoint === null || !isSafeEndpointOf(as.issuer, as.authorizationEndpoint)) {
      throw new SignInImpossible('metadata_invalid');
    }
    // No request of ours goes there, and still it must not be a place that the server may not send anybody to.
    try {
      await network.judge(target, as.issuer, as.authorizationEndpoint);
    } catch (error) {
      throw networkProblem(error, network.readError);
    }
  }

  function told(
    target: SignInTarget,
    as: AuthorizationServer,
    published: ProtectedResource | null,
  ): string | null {
    const rule = resourceRuleOf(target, book(), as.issuer);
    if (rule.kind === 'omit') log('oauth_resource_omitted', { server: target.server.name });
    return resourceToSend(rule, published?.resource ?? target.canonicalUrl);
  }

  /** Nothing is decided by a key set: one that stands elsewhere is told of and left alone. */
  function withOwnKeys(target: SignInTarget, as: AuthorizationServer): AuthorizationServer {
    if (hasOwnKeySet(as, book())) return as;
    log('oauth_keys_elsewhere', { server: target.server.name });
    return { ...as, jwksUri: null };
  }

  async function discover(target: SignInTarget, known?: Challenge): Promise<Discovered> {
    const written = configuredServer(target, clock.now());
    const reading = readingFor(target, null);
    const challenge = written ? known : (known ?? (await askChallenge(reading, target)));
    const published = written
      ? null
      : await readProtectedResource(reading, target, challenge?.resourceMetadata);
    const as = written ?? (await serverOf(target, published));
    await check(target, as);
    return {
      as: withOwnKeys(target, as),
      resource: told(target, as, published),
      mustAsk: rules.mustAsk(target, as),
      challengedScope: scopeText(challenge?.scope),
      publishedScopes: published?.scopes ?? null,
      bindsTokens: bindsTokens({ mode: target.oauth.plain.dpop, as, published, challenge }),
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
    async again(target, issuer) {
      if (configuredServer(target, clock.now())) return null;
      metadata.forget(issuer);
      try {
        const as = await metadataOf(target, issuer);
        await check(target, as);
        return as;
      } catch (error) {
        if (error instanceof SignInImpossible) return null;
        throw error;
      }
    },
    forget: (issuer) => metadata.forget(issuer),
    async issuersOf(target) {
      const reading = readingFor(target, null);
      const challenge = await askChallenge(reading, target);
      const published = await readProtectedResource(reading, target, challenge?.resourceMetadata);
      if (!published && !target.oauth.plain.legacyAuthDiscovery) return [];
      return [(await serverOf(target, published)).issuer];
    },
  };
}
