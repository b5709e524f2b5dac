import type { ClientGrants, IdJagVerifier } from '@behalf/gateway/facade';
import type { Provisioning } from '@behalf/gateway';
import type { Random } from '@behalf/kernel';
import type Provider from 'oidc-provider';
import { ACCESS_SECONDS, resourceServer } from './configuration.ts';
import { errors } from './oidcProvider.ts';
import { SCOPE } from './resources.ts';

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

export interface IdJagGrantParts {
  readonly idJags: IdJagVerifier;
  readonly provisioning: Provisioning;
  readonly grants: Pick<ClientGrants, 'create'>;
  readonly random: Random;
}

/** RFC 7523 with an ID-JAG: the identity provider has decided, and nobody is asked. No refresh token: it can decide again. */
export function registerIdJag(provider: Provider, parts: IdJagGrantParts): void {
  const { idJags, provisioning, grants, random } = parts;
  provider.registerGrantType(
    JWT_BEARER,
    async (ctx) => {
      const { client, params } = ctx.oidc;
      const { assertion, resource: asked } = params as Record<string, string | undefined>;
      // The assertion names the client it was made for: a name that nobody proved to have is worth nothing.
      if (client.clientAuthMethod === 'none') throw new errors.UnauthorizedClient();
      if (!assertion) throw new errors.InvalidRequest('assertion is missing');
      const { clientId } = client;
      const accepted = await idJags.accept(assertion, { clientId, resource: asked });
      const user = accepted && (await provisioning.userFor(accepted.verified));
      if (!user) throw new errors.InvalidGrant('assertion refused');

      const { resource, verified } = accepted;
      const grantId = random.id();
      const lifetimeMs = ACCESS_SECONDS * 1_000;
      await grants.create(user, { grantId, clientId, from: '', groups: verified.groups, lifetimeMs });
      const token = new provider.AccessToken({
        ...{ accountId: user.id, client, grantId, gty: JWT_BEARER },
        claims: {},
        sessionUid: '',
        sid: '',
        expiresWithSession: false,
        scope: SCOPE,
      });
      token.resourceServer = new provider.ResourceServer(resource, resourceServer(resource));
      const value = await token.save();
      ctx.body = {
        access_token: value,
        expires_in: token.expiration,
        token_type: token.tokenType,
        scope: SCOPE,
      };
    },
    ['assertion', 'scope', 'resource'],
  );
}
