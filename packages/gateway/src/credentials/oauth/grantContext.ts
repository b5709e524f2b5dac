import type { Clock, Fetch } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { CredentialEndpoints, CredentialRecord } from '../../ports/index.ts';
import { usesClientCredentialsGrant } from '../../servers/definition.ts';
import { createLruMap } from '../lruMap.ts';
import type { AppGrants } from '../vault/vault.ts';
import type { ClientAuthentication, OAuthClient } from './clientAuthentication.ts';
import type { OAuthClients } from './clients.ts';
import type { DiscoveredServer, OAuthDiscovery } from './discovery.ts';
import { type IssuerRules, type IssuerSettings, toIssuerProfile } from './issuers.ts';
import type { AuthorizationServerMetadata } from './metadata.ts';
import { type OAuthNetwork, withoutRedirects } from './network.ts';
import { chooseScopes, isCurrentResource, requireAudience, resolveResourceRule } from './scopes.ts';
import { type SignInServers, type SignInTarget, resolveSignInTarget } from './signInTarget.ts';

/** What a credential was given for, and must still be for. */
export interface GrantBinding {
  readonly canonicalUrl: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly resource: string | null;
}

/** `auto`: where the server and its authorization server ask for it. */
export type DpopMode = 'auto' | 'require' | 'off';

/** What the operator knows of an authorization server. */
export interface IssuerProfile {
  /** For how long after a rotation the refresh token before it still answers. 0: unknown. */
  readonly rotationGraceMs: number;
  /** Whether revoking a replaced pair leaves the others of its grant alone. */
  readonly revokeOnReplace: 'per-token' | 'never';
}

/** Everything that renewing or revoking one credential takes, as things are now. */
export interface GrantContext {
  readonly binding: GrantBinding;
  readonly client: OAuthClient;
  /**
   * How the client is proven, where somebody has to be asked for that: only for what is sent to the authorization server, so
   * that a token which lives is used whoever is away. Rejects while there is no answer.
   */
  readonly loadClientAuth?: () => Promise<ClientAuthentication>;
  /** The guarded way to this authorization server. It refuses redirects. */
  readonly fetch: Fetch;
  /** `oauth_headers` of the definition. */
  readonly headers: Readonly<Record<string, string>>;
  /** What every token request of this grant repeats: `resource`, `audience`. */
  readonly form: Readonly<Record<string, string>>;
  readonly profile: IssuerProfile;
  /** Whether tokens of this server have to be bound to a key. Absent: as the server asks. */
  readonly dpop?: DpopMode | undefined;
  /** The endpoint is gone: asks the metadata again. Null when the issuer is another one, or has none. */
  rediscover(): Promise<CredentialEndpoints | null>;
  /** The client is not known there any more. True when another was registered; only ever of dynamic ones. */
  reregister(): Promise<boolean>;
}

/** Whoever knows definitions and clients. `unbound`: the server leads elsewhere now, or is gone. */
export interface GrantContexts {
  resolve(record: CredentialRecord): Promise<GrantContext | 'unbound'>;
}

/** Who we are there, with all that a request takes. Rejects while that is not known. */
export async function resolveClientAuth({
  client,
  loadClientAuth,
}: Pick<GrantContext, 'client' | 'loadClientAuth'>): Promise<OAuthClient> {
  return loadClientAuth ? { ...client, auth: await loadClientAuth() } : client;
}

interface GrantContextParts {
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

const LIFETIME_MS = 60 * 60 * 1000;
const MAX_ENTRIES = 1_000;

interface ClientCredentialParts extends Omit<GrantContextParts, 'discovery'> {
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
