import type { Clock } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import { usesOwnGrant } from '../../registry/scope.ts';
import { createRecent } from '../recent.ts';
import type { AppGrants } from '../vault/vaultParts.ts';
import { chooseScopes } from './discovery/chooseScopes.ts';
import type { Discovered, Discovery } from './discovery/discovery.ts';
import { requireAudience } from './discovery/requireAudience.ts';
import { endpointsOf, type GrantContextParts } from './grantContexts.ts';
import { profileOf } from './issuerBook.ts';
import { refusingRedirects } from './refusingRedirects.ts';
import { targetFor } from './signInServers.ts';
import type { SignInTarget } from './signInTarget.ts';

const LIFETIME_MS = 60 * 60 * 1000;
const MOST_REMEMBERED = 1_000;

export interface ClientCredentialParts extends Omit<GrantContextParts, 'discovery'> {
  readonly clock: Clock;
  readonly discovery: Pick<Discovery, 'discover' | 'again'>;
}

/** Tokens of our own for servers that everybody shares: the definition's own client, and nobody signs in (RFC 6749, section 4.4). */
export function createClientCredentials(parts: ClientCredentialParts): AppGrants {
  const { servers, network, discovery, clients, clock, book } = parts;
  const known = createRecent<{ readonly found: Discovered; readonly at: number }>(MOST_REMEMBERED);

  /** Nobody's token changes where it is asked for, so the server is not asked each time. */
  async function discovered(target: SignInTarget): Promise<Discovered> {
    const { revision } = target.server;
    const last = known.get(revision);
    if (last && clock.now() - last.at < LIFETIME_MS) return last.found;
    const found = await discovery.discover(target);
    known.set(revision, { found, at: clock.now() });
    return found;
  }

  return {
    async of({ tenant, principal, serverId }) {
      const server = await servers.get(tenant, serverId);
      if (!server || !usesOwnGrant(server.settings)) return null;
      const target = await targetFor(servers, server, { tenant, holder: principal });
      // A token for everybody is the operator's to give: nobody else's word sends it anywhere.
      if (!target?.isOperators) return null;
      const { as, resource, publishedScopes, challengedScope, bindsTokens } = await discovered(target);
      const { issuer } = as;
      const client = await clients.now({ tenant, target, issuer, as }, target.oauth.clientId ?? '');
      if (client.source !== 'configured') throw new GatewayError('UPSTREAM_AUTH_MISCONFIGURED');
      const { audience, scope } = target.oauth;
      const scopes = chooseScopes({
        configured: scope,
        challenged: challengedScope,
        published: publishedScopes,
        // Nobody is away whose access had to go on.
        offered: null,
      });
      requireAudience(target, resource, scopes);
      return {
        context: {
          binding: { canonicalUrl: target.canonicalUrl, issuer, clientId: client.clientId, resource },
          client,
          fetch: refusingRedirects(network.fetchFor(target, issuer)),
          headers: target.headers,
          form: {
            ...(resource !== null && { resource }),
            ...(audience !== undefined && { audience }),
          },
          profile: profileOf(book(), issuer),
          dpop: target.oauth.plain.dpop,
          async rediscover() {
            known.delete(server.revision);
            const moved = await discovery.again(target, issuer);
            return moved && endpointsOf(moved);
          },
          reregister: () => Promise.resolve(false),
        },
        endpoints: endpointsOf(as),
        scopes,
        bindsTokens,
      };
    },
  };
}
