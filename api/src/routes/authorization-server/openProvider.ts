import type { AuthorizationServer } from '@behalf/contracts';
import type {
  AuthorizationServerRecords,
  AuthorizationServerSecrets,
} from '@behalf/gateway/authorization-server';
import type { ClientMetadata } from 'oidc-provider';
import { createAdapter } from './adapter.ts';
import { MCP_SCOPE } from './issuer.ts';
import { Provider, errors } from './oidcProvider.ts';
import {
  ACCESS_TOKEN_SECONDS,
  oidcProviderConfiguration,
  resourceServerInfo,
} from './providerConfiguration.ts';
import type { ProviderSourceParts } from './providerSource.ts';

const JWT_BEARER_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Creates the oidc-provider instance. This module is loaded on first use, because the library is large. */
export function openProvider(parts: ProviderSourceParts, secrets: AuthorizationServerSecrets): Provider {
  const { settings, issuer, records, grants, clock, log, idJags } = parts;
  const acceptsIdJags = idJags !== null;
  const replayWindowMs = settings.replayWindowSeconds * 1_000;
  const clients = createConfiguredClients(settings, acceptsIdJags);
  const provider = new Provider(
    issuer(),
    oidcProviderConfiguration({
      adapter: createAdapter({ records, grants, clients, replayWindowMs, clock }),
      secrets,
      resources: parts.resources,
      users: parts.users,
      fetch: parts.fetch,
      offersRegistration: settings.registration.enabled,
      acceptsIdJags,
      secure: parts.secure(),
    }),
  );
  // Trusts the forwarded headers, which `createProviderHandler` overwrites with our own origin.
  provider.proxy = true;
  provider.silent = true;
  if (idJags) registerIdJagGrant(provider, idJags, parts);
  if (replayWindowMs > 0) returnSameSuccessor(provider, records, replayWindowMs);
  provider.on('server_error', (_ctx, error) => log('authorization_server_failed', { reason: error.message }));
  provider.on('grant.error', (_ctx, { error }) => log('authorization_server_grant_refused', { error }));
  return provider;
}

/** The clients of the configuration, by id. A client without redirect URIs can only use ID-JAG assertions. */
function createConfiguredClients(
  { clients }: Readonly<AuthorizationServer>,
  acceptsIdJags: boolean,
): ReadonlyMap<string, ClientMetadata> {
  const metadata = new Map<string, ClientMetadata>();
  for (const [id, { name, redirectUris, clientSecret }] of Object.entries(clients)) {
    const usesCodes = redirectUris.length > 0;
    const isConfidential = clientSecret !== undefined;
    metadata.set(id, {
      client_id: id,
      client_name: name,
      redirect_uris: [...redirectUris],
      response_types: usesCodes ? ['code'] : [],
      grant_types: [
        ...(usesCodes ? ['authorization_code', 'refresh_token'] : []),
        ...(isConfidential && acceptsIdJags ? [JWT_BEARER_GRANT] : []),
      ],
      token_endpoint_auth_method: isConfidential ? 'client_secret_basic' : 'none',
      ...(isConfidential && { client_secret: clientSecret }),
    });
  }
  return metadata;
}

/**
 * The JWT bearer grant (RFC 7523) with an ID-JAG assertion. The identity provider has authorized the access, so there is no
 * consent. No refresh token is issued: the client requests another assertion instead.
 */
function registerIdJagGrant(
  provider: Provider,
  { verifier, provisioning }: NonNullable<ProviderSourceParts['idJags']>,
  { grants, random }: Pick<ProviderSourceParts, 'grants' | 'random'>,
): void {
  provider.registerGrantType(
    JWT_BEARER_GRANT,
    async (ctx) => {
      const { client, params } = ctx.oidc;
      const { assertion, resource: requestedResource } = params as Record<string, string | undefined>;
      // The assertion is bound to a client, so the client must authenticate.
      if (client.clientAuthMethod === 'none') throw new errors.UnauthorizedClient();
      if (!assertion) throw new errors.InvalidRequest('assertion is missing');
      const { clientId } = client;
      const accepted = await verifier.accept(assertion, { clientId, resource: requestedResource });
      const user = accepted && (await provisioning.userFor(accepted.verified));
      if (!user) throw new errors.InvalidGrant('assertion refused');

      const { resource, verified } = accepted;
      const grantId = random.id();
      await grants.create(user, {
        grantId,
        clientId,
        from: '',
        groups: verified.groups,
        lifetimeMs: ACCESS_TOKEN_SECONDS * 1_000,
      });
      const token = new provider.AccessToken({
        accountId: user.id,
        client,
        grantId,
        gty: JWT_BEARER_GRANT,
        claims: {},
        sessionUid: '',
        sid: '',
        expiresWithSession: false,
        scope: MCP_SCOPE,
      });
      token.resourceServer = new provider.ResourceServer(resource, resourceServerInfo(resource));
      ctx.body = {
        access_token: await token.save(),
        expires_in: token.expiration,
        token_type: token.tokenType,
        scope: MCP_SCOPE,
      };
    },
    ['assertion', 'scope', 'resource'],
  );
}

/** The refresh tokens of a token request: the token that the client sent, and its successor. */
interface RefreshTokenEntities {
  readonly RotatedRefreshToken?: { readonly jti: string };
  readonly RefreshToken?: { readonly jti: string; destroy(): Promise<void> };
}

/** The time that a request, accepted at the end of the replay window, has to find its successor. */
const REQUEST_MARGIN_MS = 1_000;

/**
 * If a refresh token is used twice within the replay window, both responses contain the same successor. With two valid
 * successors, the theft of a refresh token would look like concurrent clients; with one successor, its second use is
 * detected (RFC 9700 section 4.14).
 */
function returnSameSuccessor(
  provider: Provider,
  records: Pick<AuthorizationServerRecords, 'add'>,
  replayWindowMs: number,
): void {
  const ttlMs = replayWindowMs + REQUEST_MARGIN_MS;
  provider.use(async (ctx, next) => {
    await next();
    const { entities } = ctx['oidc'] as { readonly entities: RefreshTokenEntities };
    const { RotatedRefreshToken: rotated, RefreshToken: issued } = entities;
    if (!rotated || !issued || ctx.status !== 200) return;
    const existing = await records.add('Successor', rotated.jti, { token: issued.jti }, { ttlMs });
    if (!existing) return;
    await issued.destroy();
    ctx.body = { ...(ctx.body as object), refresh_token: existing.token };
  });
}
