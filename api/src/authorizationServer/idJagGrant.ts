import type { ClientGrants, IdJagVerifier } from '@behalf/gateway/facade';
import type { Provisioning } from '@behalf/gateway';
import type { Random } from '@behalf/kernel';
import type Provider from 'oidc-provider';
import { ACCESS_TOKEN_SECONDS, resourceServerInfo } from './providerConfiguration.ts';
import { errors } from './oidcProvider.ts';
import { MCP_SCOPE } from './resources.ts';

export const JWT_BEARER_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

export interface IdJagGrantParts {
  readonly idJags: IdJagVerifier;
  readonly provisioning: Provisioning;
  readonly grants: Pick<ClientGrants, 'create'>;
  readonly random: Random;
}

/** RFC 7523 with an ID-JAG: the identity provider has decided, and nobody is asked. No refresh token: it can decide again. */
export function registerIdJagGrant(provider: Provider, parts: IdJagGrantParts): void {
  const { idJags, provisioning, grants, random } = parts;
  provider.registerGrantType(
    JWT_BEARER_GRANT,
    async (ctx) => {
      const { client, params } = ctx.oidc;
      const { assertion, resource: requestedResource } = params as Record<string, string | undefined>;
      // The assertion names the client it was made for: a name that nobody proved to have is worth nothing.
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
