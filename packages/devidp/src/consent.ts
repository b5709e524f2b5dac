import type { Configuration } from 'oidc-provider';

/** Consent is not what is tested here: whatever a client asks for is granted, also when it asks for more than before. */
export const grantAllScopes: NonNullable<Configuration['loadExistingGrant']> = async ({ oidc }) => {
  const { client, session, provider } = oidc;
  if (!client || session?.accountId === undefined) return undefined;
  const grantId = session.grantIdFor(client.clientId);
  const grant =
    (grantId === undefined ? undefined : await provider.Grant.find(grantId)) ??
    new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope(oidc.requestParamOIDCScopes);
  grant.addOIDCClaims(oidc.requestParamClaims);
  for (const [resource, server] of Object.entries(oidc.resourceServers ?? {})) {
    grant.addResourceScope(resource, server.scope);
  }
  await grant.save();
  return grant;
};
