import type { AuthorizationServer } from '@behalf/contracts';
import type { Provisioning } from '@behalf/gateway';
import type {
  AuthorizationServerRecords,
  AuthorizationServerSecrets,
  ClientGrants,
  IdJagVerifier,
} from '@behalf/gateway/authorization-server';
import type { Random } from '@behalf/kernel';
import type Provider from 'oidc-provider';
import { type ClientMetadata } from 'oidc-provider';
import { createAdapter } from './adapter.ts';
import { MCP_SCOPE } from './issuer.ts';
import { Provider as Library, errors } from './oidcProvider.ts';
import {
  ACCESS_TOKEN_SECONDS,
  oidcProviderConfiguration,
  resourceServerInfo,
} from './providerConfiguration.ts';
import type { ProviderSourceParts } from './providerSource.ts';

/** Creates the oidc-provider instance. This module is loaded on first use, because the library is large. */
export function openProvider(parts: ProviderSourceParts, secrets: AuthorizationServerSecrets): Provider {
  const { settings, issuer, records, grants, clock, log, idJags, random } = parts;
  const replayWindowMs = settings.replayWindowSeconds * 1_000;
  const clients = operatorClients(settings, idJags ? [JWT_BEARER_GRANT] : []);
  const provider = new Library(
    issuer(),
    oidcProviderConfiguration({
      ...parts,
      adapter: createAdapter({ records, grants, clients, replayWindowMs, clock }),
      secrets,
      offersRegistration: settings.registration.enabled,
      acceptsIdJags: idJags !== null,
      secure: parts.secure(),
    }),
  );
  // Trusts the forwarded headers, which `createProviderHandler` overwrites with our own origin.
  provider.proxy = true;
  provider.silent = true;
  if (idJags) {
    registerIdJagGrant(provider, {
      idJags: idJags.accept,
      provisioning: idJags.provisioning,
      grants,
      random,
    });
  }
  // One second more than the replay window.
  if (replayWindowMs > 0) provider.use(createRotationReplay(records, replayWindowMs + 1_000));
  provider.on('server_error', (_ctx, error) => log('authorization_server_failed', { reason: error.message }));
  provider.on('grant.error', (_ctx, { error }) => log('authorization_server_grant_refused', { error }));
  return provider;
}

function operatorClients(
  { clients }: Readonly<AuthorizationServer>,
  extraGrantTypes: readonly string[],
): ReadonlyMap<string, ClientMetadata> {
  return new Map(
    Object.entries(clients).map(([id, { name, redirectUris, clientSecret }]) => [
      id,
      {
        client_id: id,
        client_name: name,
        redirect_uris: [...redirectUris],
        response_types: redirectUris.length > 0 ? ['code'] : [],
        grant_types: [
          ...(redirectUris.length > 0 ? ['authorization_code', 'refresh_token'] : []),
          ...(clientSecret === undefined ? [] : extraGrantTypes),
        ],
        ...(clientSecret === undefined
          ? { token_endpoint_auth_method: 'none' }
          : { token_endpoint_auth_method: 'client_secret_basic', client_secret: clientSecret }),
      },
    ]),
  );
}

export const JWT_BEARER_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

export interface IdJagGrantParts {
  readonly idJags: IdJagVerifier;
  readonly provisioning: Provisioning;
  readonly grants: Pick<ClientGrants, 'create'>;
  readonly random: Random;
}

/**
 * The JWT bearer grant (RFC 7523) with an ID-JAG assertion. The identity provider has authorized the access, so there is no
 * consent. No refresh token is issued: the client requests another assertion instead.
 */
export function registerIdJagGrant(provider: Provider, parts: IdJagGrantParts): void {
  const { idJags, provisioning, grants, random } = parts;
  provider.registerGrantType(
    JWT_BEARER_GRANT,
    async (ctx) => {
      const { client, params } = ctx.oidc;
      const { assertion, resource: requestedResource } = params as Record<string, string | undefined>;
      // The assertion is bound to a client, so the client must authenticate.
      if (client.clientAuthMethod === 'none') throw new errors.UnauthorizedClient();
      if (!assertion) throw new errors.InvalidRequest('assertion is missing');
      const { clientId } = client;
      const accepted = await idJags.accept(assertion, { clientId, resource: requestedResource });
      const user = accepted && (await provisioning.userFor(accepted.verified));
      if (!user) throw new errors.InvalidGrant('assertion refused');

      const { resource, verified } = accepted;
      const grantId = random.id();
      const lifetimeMs = ACCESS_TOKEN_SECONDS * 1_000;
      await grants.create(user, { grantId, clientId, from: '', groups: verified.groups, lifetimeMs });
      const token = new provider.AccessToken({
        ...{ accountId: user.id, client, grantId, gty: JWT_BEARER_GRANT },
        claims: {},
        sessionUid: '',
        sid: '',
        expiresWithSession: false,
        scope: MCP_SCOPE,
      });
      token.resourceServer = new provider.ResourceServer(resource, resourceServerInfo(resource));
      const value = await token.save();
      ctx.body = {
        access_token: value,
        expires_in: token.expiration,
        token_type: token.tokenType,
        scope: MCP_SCOPE,
      };
    },
    ['assertion', 'scope', 'resource'],
  );
}

type Middleware = Parameters<Provider['use']>[0];

/** The entities of a request in the oidc-provider context. */
interface RequestEntities {
  readonly entities: Readonly<
    Record<
      'RotatedRefreshToken' | 'RefreshToken',
      { readonly jti: string; destroy(): Promise<void> } | undefined
    >
  >;
}

/**
 * If a refresh token is used twice within the replay window, both responses contain the same successor. With two valid
 * successors, the theft of a refresh token could not be told from concurrent clients; with one successor, its second use is
 * detected (RFC 9700 section 4.14).
 */
export function createRotationReplay(
  records: Pick<AuthorizationServerRecords, 'add'>,
  ttlMs: number,
): Middleware {
  return async (ctx, next) => {
    await next();
    const { RotatedRefreshToken: rotated, RefreshToken: issued } = (ctx['oidc'] as RequestEntities).entities;
    if (!rotated || !issued || ctx.status !== 200) return;
    const existing = await records.add('Successor', rotated.jti, { token: issued.jti }, { ttlMs });
    if (!existing) return;
    await issued.destroy();
    ctx.body = { ...(ctx.body as object), refresh_token: existing.token };
  };
}
