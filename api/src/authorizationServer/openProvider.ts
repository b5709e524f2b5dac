import type { AuthorizationServer } from '@behalf/contracts';
import type { AuthorizationServerSecrets } from '@behalf/gateway/facade';
import type { ClientMetadata } from 'oidc-provider';
import type Provider from 'oidc-provider';
import { createAdapter } from './adapter.ts';
import { oidcProviderConfiguration } from './providerConfiguration.ts';
import type { ProviderSourceParts } from './providerSource.ts';
import { JWT_BEARER_GRANT, registerIdJagGrant } from './idJagGrant.ts';
import { Provider as Library } from './oidcProvider.ts';
import { createRotationReplay } from './rotationReplay.ts';

/** The library, by our rules. This module and what it imports are loaded by whoever first comes to the authorization server. */
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
  // Whoever asks is told our own name, not one that a header brings along: see `asTheLibrary`.
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
  // Kept a little longer than it is asked for.
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
