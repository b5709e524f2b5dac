import type { AuthorizationServer } from '@behalf/contracts';
import type { AuthorizationServerSecrets } from '@behalf/gateway/facade';
import type { ClientMetadata } from 'oidc-provider';
import type Provider from 'oidc-provider';
import { createAdapter } from './adapter.ts';
import { facadeConfiguration } from './configuration.ts';
import type { FacadeParts } from './facade.ts';
import { JWT_BEARER, registerIdJag } from './idJagGrant.ts';
import { Provider as Library } from './oidcProvider.ts';
import { sameSuccessor } from './sameSuccessor.ts';

/** The library, by our rules. This module and what it imports are loaded by whoever first comes to the authorization server. */
export function openProvider(parts: FacadeParts, secrets: AuthorizationServerSecrets): Provider {
  const { settings, issuer, records, grants, clock, log, idJags, random } = parts;
  const replayWindowMs = settings.replayWindowSeconds * 1_000;
  const clients = operatorClients(settings, idJags ? [JWT_BEARER] : []);
  const provider = new Library(
    issuer(),
    facadeConfiguration({
      ...parts,
      adapter: createAdapter({ records, grants, clients, replayWindowMs, clock }),
      secrets,
      offersRegistration: settings.registration.enabled,
      takesIdJags: idJags !== null,
      secure: parts.secure(),
    }),
  );
  // Whoever asks is told our own name, not one that a header brings along: see `asTheLibrary`.
  provider.proxy = true;
  provider.silent = true;
  if (idJags) {
    registerIdJag(provider, { idJags: idJags.accept, provisioning: idJags.provisioning, grants, random });
  }
  // Kept a little longer than it is asked for.
  if (replayWindowMs > 0) provider.use(sameSuccessor(records, replayWindowMs + 1_000));
  provider.on('server_error', (_ctx, error) => log('facade_failed', { reason: error.message }));
  provider.on('grant.error', (_ctx, { error }) => log('facade_grant_refused', { error }));
  return provider;
}

function operatorClients(
  { clients }: Readonly<AuthorizationServer>,
  moreGrants: readonly string[],
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
          ...(clientSecret === undefined ? [] : moreGrants),
        ],
        ...(clientSecret === undefined
          ? { token_endpoint_auth_method: 'none' }
          : { token_endpoint_auth_method: 'client_secret_basic', client_secret: clientSecret }),
      },
    ]),
  );
}
