import { type Clock, type Fetch, LruMap } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { CredentialEndpoints, CredentialRecord } from '../../ports/index.ts';
import { usesClientCredentialsGrant } from '../../definitions/definition.ts';
import type { AppGrants } from '../vault/vault.ts';
import type { ClientAuthentication, OAuthClient } from './clientAuthentication.ts';
import type { OAuthClients } from './clients.ts';
import type { DiscoveredServer, OAuthDiscovery } from './discovery.ts';
import { type IssuerRules, type IssuerSettings, toIssuerProfile } from './issuers.ts';
import type { AuthorizationServerMetadata } from './metadata.ts';
import { type OAuthNetwork, withoutRedirects } from './network.ts';
import { chooseScopes, isCurrentResource, requireAudience, resolveResourceRule } from './scopes.ts';
import { type SignInServers, type SignInTarget, resolveSignInTarget } from './signInTarget.ts';

/** The server, issuer, client and resource that a credential was issued for. The vault uses it for nothing else. */
export interface GrantBinding {
  readonly canonicalUrl: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly resource: string | null;
}

/** `auto`: if the server and its authorization server ask for it. */
export type DpopMode = 'auto' | 'require' | 'off';

/** Operator settings for an authorization server. */
export interface IssuerProfile {
  /** How long the previous refresh token remains valid after a rotation. 0: unknown. */
  readonly rotationGraceMs: number;
  /** `per-token`: revoking a replaced token does not affect the rest of its grant. */
  readonly revokeOnReplace: 'per-token' | 'never';
}

/** Everything needed to refresh or revoke one credential, from the current configuration. */
export interface GrantContext {
  readonly binding: GrantBinding;
  readonly client: OAuthClient;
  /**
   * Loads the client authentication if that needs I/O. It is called only before a request to the authorization server, so that a valid
   * token is used during an outage. Rejects if it cannot be loaded.
   */
  readonly loadClientAuth?: () => Promise<ClientAuthentication>;
  /** Guarded fetch for this authorization server. It refuses redirects. */
  readonly fetch: Fetch;
  /** `oauth_headers` of the definition. */
  readonly headers: Readonly<Record<string, string>>;
  /** Fields of every token request: `resource`, `audience`. */
  readonly form: Readonly<Record<string, string>>;
  readonly profile: IssuerProfile;
  /** Whether tokens must be bound to a key. Default: `auto`. */
  readonly dpop?: DpopMode | undefined;
  /** Reads the metadata again after an endpoint disappeared. Null if the issuer changed or has no metadata. */
  rediscover(): Promise<CredentialEndpoints | null>;
  /** Registers a new client after the authorization server lost the old one. False unless the client is dynamic. */
  reregister(): Promise<boolean>;
}

/** Resolves the context of a stored credential. `unbound`: the server now uses another URL, issuer, client or resource, or is gone. */
export interface GrantContexts {
  resolve(record: CredentialRecord): Promise<GrantContext | 'unbound'>;
}

/** The client with its authentication. Rejects if the authentication cannot be loaded. */
export async function resolveClientAuth({
  client,
  loadClientAuth,
}: Pick<GrantContext, 'client' | 'loadClientAuth'>): Promise<OAuthClient> {
  return loadClientAuth ? { ...client, auth: await loadClientAuth() } : client;
}

interface GrantContextParts {
  readonly servers: SignInServers;
  readonly network: OAuthNetwork;
  readonly discovery: Pick<OAuthDiscovery, 'discover' | 'rediscover'>;
  readonly clients: OAuthClients;
  readonly rules: Pick<IssuerRules, 'isGrantAllowed'>;
  readonly issuerSettings: () => IssuerSettings;
}

/** The members of a context that depend only on the target, the client and the binding. */
function createBaseContext(
  { network, issuerSettings }: Pick<GrantContextParts, 'network' | 'issuerSettings'>,
  target: SignInTarget,
  client: OAuthClient,
  { issuer, resource }: Pick<GrantBinding, 'issuer' | 'resource'>,
  audience: string | undefined,
) {
  return {
    binding: { canonicalUrl: target.canonicalUrl, issuer, clientId: client.clientId, resource },
    client,
    fetch: withoutRedirects(network.fetchFor(target, issuer)),
    headers: target.headers,
    form: { ...(resource !== null && { resource }), ...(audience !== undefined && { audience }) },
    profile: toIssuerProfile(issuerSettings(), issuer),
    dpop: target.oauth.raw.dpop,
  };
}

/** Contexts of the grants that users gave at a sign-in. Reads the store and the cache only. */
export function createGrantContexts(parts: GrantContextParts): GrantContexts {
  const { servers, discovery, clients, rules, issuerSettings } = parts;

  /** Undefined if the server is gone or has another URL. */
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
    const { tenant, issuer } = record;
    const { oauth, isOperatorDefined } = target;
    const forwardsAudience = isOperatorDefined && oauth.raw.forward_audience_on_refresh !== false;
    const clientUse = { tenant, target, issuer };
    return {
      ...createBaseContext(parts, target, client, record, forwardsAudience ? oauth.audience : undefined),
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
      const { tenant, issuer, resource, endpoints, clientId } = record;
      if (record.kind === 'static') {
        // An imported token is never refreshed.
        return createContext(record, target, { clientId, source: 'configured', auth: { method: 'none' } });
      }
      if (!isSameIssuer(target, record)) return 'unbound';
      const endpointUrls = [endpoints?.token, endpoints?.authorization].filter(
        (url) => typeof url === 'string',
      );
      if (!(await rules.isGrantAllowed(target, issuer, endpointUrls))) return 'unbound';
      if (!isCurrentResource(resolveResourceRule(target, issuerSettings(), issuer), target, resource))
        return 'unbound';
      // The definition takes precedence over the metadata at the time of the sign-in.
      const configuredMethods = target.oauth.raw.token_endpoint_auth_methods_supported;
      const authMethods = configuredMethods ?? (endpoints?.clientAuth ? [endpoints.clientAuth] : null);
      const clientUse = { tenant, target, issuer, asMetadata: { authMethods } };
      return createContext(record, target, await clients.resolveClient(clientUse, clientId));
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

/** Whether the configured issuer and token endpoint are those of the grant. Discovered values were checked at the sign-in. */
function isSameIssuer({ oauth }: SignInTarget, { issuer, endpoints }: CredentialRecord): boolean {
  if (oauth.issuer !== undefined && oauth.issuer !== issuer) return false;
  if (oauth.tokenUrl !== undefined) return oauth.tokenUrl === endpoints?.token;
  // A grant of a configured endpoint has the endpoint as its issuer. Discovery may find another authorization server.
  return issuer !== endpoints?.token;
}

const DISCOVERY_LIFETIME_MS = 60 * 60 * 1000;
const MAX_ENTRIES = 1_000;

/** Contexts of shared servers that use the gateway's own token (client credentials, RFC 6749, section 4.4). */
export function createClientCredentials(parts: GrantContextParts & { readonly clock: Clock }): AppGrants {
  const { servers, discovery, clients, clock } = parts;
  const cache = new LruMap<string, { readonly found: DiscoveredServer; readonly at: number }>(MAX_ENTRIES);

  /** No user depends on the result, so it is not discovered for each token. */
  async function discoverCached(target: SignInTarget): Promise<DiscoveredServer> {
    const { revision } = target.server;
    const cached = cache.get(revision);
    if (cached && clock.now() - cached.at < DISCOVERY_LIFETIME_MS) return cached.found;
    const found = await discovery.discover(target);
    cache.set(revision, { found, at: clock.now() });
    return found;
  }

  return {
    async resolve({ tenant, principal, serverId }) {
      const server = await servers.get(tenant, serverId);
      if (!server || !usesClientCredentialsGrant(server.settings)) return null;
      const target = await resolveSignInTarget(servers, server, { tenant, holder: principal });
      // Only the operator may decide where a token that serves all users is sent.
      if (!target?.isOperatorDefined) return null;
      const { asMetadata, resource, publishedScopes, challengedScope, usesDpop } =
        await discoverCached(target);
      const { issuer } = asMetadata;
      const { audience, scope, clientId = '' } = target.oauth;
      const client = await clients.resolveClient({ tenant, target, issuer, asMetadata }, clientId);
      if (client.source !== 'configured') throw new GatewayError('UPSTREAM_AUTH_MISCONFIGURED');
      const scopes = chooseScopes({
        configured: scope,
        challenged: challengedScope,
        published: publishedScopes,
        // offline_access is never added: this grant has no refresh token.
        supported: null,
      });
      requireAudience(target, resource, scopes);
      return {
        context: {
          ...createBaseContext(parts, target, client, { issuer, resource }, audience),
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
