import type { CredentialEndpoints, CredentialRecord } from '../../ports/index.ts';
import type { AuthorizationServerMetadata } from './discovery/authorizationServerMetadata.ts';
import type { OAuthDiscovery } from './discovery/discovery.ts';
import { isCurrentResource, resolveResourceRule } from './discovery/resourceRule.ts';
import type { GrantContext, GrantContexts } from './grantContext.ts';
import { toIssuerProfile, type IssuerSettings } from './issuerSettings.ts';
import type { IssuerRules } from './issuerRules.ts';
import type { OAuthClient } from './oauthClient.ts';
import type { OAuthNetwork } from './oauthNetwork.ts';
import type { OAuthClients } from './registration/clients.ts';
import { withoutRedirects } from './withoutRedirects.ts';
import { resolveSignInTarget, type SignInServers } from './signInServers.ts';
import type { SignInTarget } from './signInTarget.ts';

export interface GrantContextParts {
  readonly servers: SignInServers;
  readonly network: OAuthNetwork;
  readonly discovery: Pick<OAuthDiscovery, 'rediscover'>;
  readonly clients: OAuthClients;
  readonly rules: Pick<IssuerRules, 'isGrantAllowed'>;
  readonly issuerSettings: () => IssuerSettings;
}

/** What renewing or revoking a grant takes, from the definition as it is now. Asks nobody but the store. */
export function createGrantContexts(parts: GrantContextParts): GrantContexts {
  const { servers, network, discovery, clients, rules, issuerSettings } = parts;

  /** Undefined: given by, or for, something else than the server has now. */
  async function findTarget(record: CredentialRecord): Promise<SignInTarget | undefined> {
    const server = await servers.get(record.tenant, record.serverId);
    if (!server) return undefined;
    const target = await resolveSignInTarget(servers, server, {
      tenant: record.tenant,
      holder: record.principal,
    });
    return target?.canonicalUrl === record.canonicalUrl ? target : undefined;
  }

  function createContext(record: CredentialRecord, target: SignInTarget, client: OAuthClient): GrantContext {
    const { tenant, issuer, resource } = record;
    const clientUse = { tenant, target, issuer };
    return {
      binding: { canonicalUrl: target.canonicalUrl, issuer, clientId: client.clientId, resource },
      client,
      fetch: withoutRedirects(network.fetchFor(target, issuer)),
      headers: target.headers,
      form: buildRepeatedForm(record, target),
      profile: toIssuerProfile(issuerSettings(), issuer),
      dpop: target.oauth.raw.dpop,
      async rediscover() {
        const asMetadata = await discovery.rediscover(target, issuer);
        if (!asMetadata) return null;
        const currentClient = await clients.resolveClient({ ...clientUse, asMetadata }, record.clientId);
        return { ...toCredentialEndpoints(asMetadata), clientAuth: currentClient.auth.method };
      },
      async reregister() {
        if (client.source !== 'dynamic') return false;
        const asMetadata = await discovery.rediscover(target, issuer);
        if (!asMetadata) return false;
        const refusedClient = { ...client, clientId: record.clientId };
        return clients.reregister({ ...clientUse, asMetadata }, refusedClient, record.scopesRequested);
      },
    };
  }

  return {
    async resolve(record) {
      const target = await findTarget(record);
      if (!target) return 'unbound';
      if (record.kind === 'static') return createContext(record, target, toImportedClient(record));
      const { issuer, resource, endpoints } = record;
      if (!isSameIssuer(target, record)) return 'unbound';
      const endpointUrls = [endpoints?.token, endpoints?.authorization].filter(
        (url) => typeof url === 'string',
      );
      if (!(await rules.isGrantAllowed(target, issuer, endpointUrls))) return 'unbound';
      if (!isCurrentResource(resolveResourceRule(target, issuerSettings(), issuer), target, resource))
        return 'unbound';
      // What the definition says counts, else what the metadata said when it was given.
      const configuredMethods = target.oauth.raw.token_endpoint_auth_methods_supported;
      const asMetadata = {
        authMethods: configuredMethods ?? (endpoints?.clientAuth ? [endpoints.clientAuth] : null),
      };
      const client = await clients.resolveClient(
        { tenant: record.tenant, target, issuer, asMetadata },
        record.clientId,
      );
      return createContext(record, target, client);
    },
  };
}

export function toCredentialEndpoints(asMetadata: AuthorizationServerMetadata): CredentialEndpoints {
  return {
    token: asMetadata.tokenEndpoint,
    revocation: asMetadata.revocationEndpoint,
    authorization: asMetadata.authorizationEndpoint,
    fetchedAt: asMetadata.fetchedAt,
  };
}

/** What the definition writes down must be what the grant was given by; what it leaves open was checked then. */
function isSameIssuer({ oauth }: SignInTarget, { issuer, endpoints }: CredentialRecord): boolean {
  if (oauth.issuer !== undefined && oauth.issuer !== issuer) return false;
  if (oauth.tokenUrl !== undefined) return oauth.tokenUrl === endpoints?.token;
  // It was given when the endpoint was written down, and nobody says that what is discovered now is the same.
  return issuer !== endpoints?.token;
}

function buildRepeatedForm(
  { resource }: CredentialRecord,
  { oauth, isOperatorDefined }: SignInTarget,
): Record<string, string> {
  const forwardsAudience = isOperatorDefined && oauth.raw.forward_audience_on_refresh !== false;
  return {
    ...(resource !== null && { resource }),
    ...(forwardsAudience && oauth.audience !== undefined && { audience: oauth.audience }),
  };
}

/** Nobody renews a token that somebody brought; only where it goes is looked at. */
function toImportedClient({ clientId }: CredentialRecord): OAuthClient {
  return { clientId, source: 'configured', auth: { method: 'none' } };
}
