import type { CredentialEndpoints, CredentialRecord } from '../../ports/index.ts';
import type { AuthorizationServer } from './discovery/authorizationServer.ts';
import type { Discovery } from './discovery/discovery.ts';
import { isResourceOf, resourceRuleOf } from './discovery/resourceRule.ts';
import type { GrantContext, GrantContexts } from './grantContext.ts';
import { profileOf, type IssuerBook } from './issuerBook.ts';
import type { IssuerRules } from './issuerRules.ts';
import type { OAuthClient } from './oauthClient.ts';
import type { OAuthNetwork } from './oauthNetwork.ts';
import type { OAuthClients } from './registration/clients.ts';
import { refusingRedirects } from './refusingRedirects.ts';
import { targetFor, type SignInServers } from './signInServers.ts';
import type { SignInTarget } from './signInTarget.ts';

export interface GrantContextParts {
  readonly servers: SignInServers;
  readonly network: OAuthNetwork;
  readonly discovery: Pick<Discovery, 'again'>;
  readonly clients: OAuthClients;
  readonly rules: Pick<IssuerRules, 'mayStillName'>;
  readonly book: () => IssuerBook;
}

/** What renewing or revoking a grant takes, from the definition as it is now. Asks nobody but the store. */
export function createGrantContexts(parts: GrantContextParts): GrantContexts {
  const { servers, network, discovery, clients, rules, book } = parts;

  /** Undefined: given by, or for, something else than the server has now. */
  async function targetOf(record: CredentialRecord): Promise<SignInTarget | undefined> {
    const server = await servers.get(record.tenant, record.serverId);
    if (!server) return undefined;
    const target = await targetFor(servers, server, { tenant: record.tenant, holder: record.principal });
    return target?.canonicalUrl === record.canonicalUrl ? target : undefined;
  }

  function contextOf(record: CredentialRecord, target: SignInTarget, client: OAuthClient): GrantContext {
    const { tenant, issuer, resource } = record;
    const use = { tenant, target, issuer };
    return {
      binding: { canonicalUrl: target.canonicalUrl, issuer, clientId: client.clientId, resource },
      client,
      fetch: refusingRedirects(network.fetchFor(target, issuer)),
      headers: target.headers,
      form: repeatedForm(record, target),
      profile: profileOf(book(), issuer),
      dpop: target.oauth.plain.dpop,
      async rediscover() {
        const as = await discovery.again(target, issuer);
        if (!as) return null;
        const anew = await clients.now({ ...use, as }, record.clientId);
        return { ...endpointsOf(as), clientAuth: anew.proof.method };
      },
      async reregister() {
        if (client.source !== 'dynamic') return false;
        const as = await discovery.again(target, issuer);
        if (!as) return false;
        const refused = { ...client, clientId: record.clientId };
        return clients.renew({ ...use, as }, refused, record.scopesRequested);
      },
    };
  }

  return {
    async of(record) {
      const target = await targetOf(record);
      if (!target) return 'unbound';
      if (record.kind === 'static') return contextOf(record, target, broughtAlong(record));
      const { issuer, resource, endpoints } = record;
      if (!isIssuerOf(target, record)) return 'unbound';
      const places = [endpoints?.token, endpoints?.authorization].filter((url) => typeof url === 'string');
      if (!(await rules.mayStillName(target, issuer, places))) return 'unbound';
      if (!isResourceOf(resourceRuleOf(target, book(), issuer), target, resource)) return 'unbound';
      // What the definition says counts, else what the metadata said when it was given.
      const written = target.oauth.plain.token_endpoint_auth_methods_supported;
      const as = { authMethods: written ?? (endpoints?.clientAuth ? [endpoints.clientAuth] : null) };
      const client = await clients.now({ tenant: record.tenant, target, issuer, as }, record.clientId);
      return contextOf(record, target, client);
    },
  };
}

export function endpointsOf(as: AuthorizationServer): CredentialEndpoints {
  return {
    token: as.tokenEndpoint,
    revocation: as.revocationEndpoint,
    authorization: as.authorizationEndpoint,
    fetchedAt: as.fetchedAt,
  };
}

/** What the definition writes down must be what the grant was given by; what it leaves open was checked then. */
function isIssuerOf({ oauth }: SignInTarget, { issuer, endpoints }: CredentialRecord): boolean {
  if (oauth.issuer !== undefined && oauth.issuer !== issuer) return false;
  if (oauth.tokenUrl !== undefined) return oauth.tokenUrl === endpoints?.token;
  // It was given when the endpoint was written down, and nobody says that what is discovered now is the same.
  return issuer !== endpoints?.token;
}

function repeatedForm(
  { resource }: CredentialRecord,
  { oauth, isOperators }: SignInTarget,
): Record<string, string> {
  const forwards = isOperators && oauth.plain.forward_audience_on_refresh !== false;
  return {
    ...(resource !== null && { resource }),
    ...(forwards && oauth.audience !== undefined && { audience: oauth.audience }),
  };
}

/** Nobody renews a token that somebody brought; only where it goes is looked at. */
function broughtAlong({ clientId }: CredentialRecord): OAuthClient {
  return { clientId, source: 'configured', proof: { method: 'none' } };
}
