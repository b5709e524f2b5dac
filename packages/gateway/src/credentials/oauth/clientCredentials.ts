import type { Clock } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import { usesClientCredentialsGrant } from '../../registry/scope.ts';
import { createLruMap } from '../lruMap.ts';
import type { AppGrants } from '../vault/vaultParts.ts';
import { chooseScopes } from './discovery/chooseScopes.ts';
import type { DiscoveredServer, OAuthDiscovery } from './discovery/discovery.ts';
import { requireAudience } from './discovery/requireAudience.ts';
import { toCredentialEndpoints, type GrantContextParts } from './grantContexts.ts';
import { toIssuerProfile } from './issuerSettings.ts';
import { withoutRedirects } from './withoutRedirects.ts';
import { resolveSignInTarget } from './signInServers.ts';
import type { SignInTarget } from './signInTarget.ts';

const LIFETIME_MS = 60 * 60 * 1000;
const MAX_ENTRIES = 1_000;

export interface ClientCredentialParts extends Omit<GrantContextParts, 'discovery'> {
  readonly clock: Clock;
  readonly discovery: Pick<OAuthDiscovery, 'discover' | 'rediscover'>;
}

/** Tokens of our own for servers that everybody shares: the definition's own client, and nobody signs in (RFC 6749, section 4.4). */
export function createClientCredentials(parts: ClientCredentialParts): AppGrants {
  const { servers, network, discovery, clients, clock, issuerSettings } = parts;
  const cache = createLruMap<{ readonly found: DiscoveredServer; readonly at: number }>(MAX_ENTRIES);

  /** Nobody's token changes where it is asked for, so the server is not asked each time. */
  async function discoverCached(target: SignInTarget): Promise<DiscoveredServer> {
    const { revision } = target.server;
    const cached = cache.get(revision);
    if (cached && clock.now() - cached.at < LIFETIME_MS) return cached.found;
    const found = await discovery.discover(target);
    cache.set(revision, { found, at: clock.now() });
    return found;
  }

  return {
    async resolve({ tenant, principal, serverId }) {
      const server = await servers.get(tenant, serverId);
      if (!server || !usesClientCredentialsGrant(server.settings)) return null;
      const target = await resolveSignInTarget(servers, server, { tenant, holder: principal });
      // A token for everybody is the operator's to give: nobody else's word sends it anywhere.
      if (!target?.isOperatorDefined) return null;
      const { asMetadata, resource, publishedScopes, challengedScope, usesDpop } =
        await discoverCached(target);
      const { issuer } = asMetadata;
      const client = await clients.resolveClient(
        { tenant, target, issuer, asMetadata },
        target.oauth.clientId ?? '',
      );
      if (client.source !== 'configured') throw new GatewayError('UPSTREAM_AUTH_MISCONFIGURED');
      const { audience, scope } = target.oauth;
      const scopes = chooseScopes({
        configured: scope,
        challenged: challengedScope,
        published: publishedScopes,
        // Nobody is away whose access had to go on.
        supported: null,
      });
      requireAudience(target, resource, scopes);
      return {
        context: {
          binding: { canonicalUrl: target.canonicalUrl, issuer, clientId: client.clientId, resource },
          client,
          fetch: withoutRedirects(network.fetchFor(target, issuer)),
          headers: target.headers,
          form: {
            ...(resource !== null && { resource }),
            ...(audience !== undefined && { audience }),
          },
          profile: toIssuerProfile(issuerSettings(), issuer),
          dpop: target.oauth.raw.dpop,
          async rediscover() {
            cache.delete(server.revision);
            const rediscovered = await discovery.rediscover(target, issuer);
            return rediscovered && toCredentialEndpoints(rediscovered);
          },
          reregister: () => Promise.resolve(false),
        },
        endpoints: toCredentialEndpoints(asMetadata),
        scopes,
        usesDpop,
      };
    },
  };
}
