import type { Env } from '@behalf/contracts';
import type { ComposedAccess } from './composeAccess.ts';
import { MCP_SCOPE } from './authorizationServer/resources.ts';
import type { EndpointResources } from './resource/endpointResources.ts';
import { createMcpResourceServer, type McpResourceServer } from './resource/resourceServer.ts';

export interface ComposeResourceParts {
  readonly env: Pick<Env, 'OPENID_ISSUER' | 'OPENID_MCP_SCOPE'>;
  readonly authorizationServer: ComposedAccess['authorizationServer'];
  readonly endpoints: EndpointResources;
  readonly baseUrl: () => string;
}

/** The MCP endpoints as an OAuth resource server: of our own authorization server where there is one, else of the identity provider. */
export function composeResource({
  env,
  authorizationServer,
  endpoints,
  baseUrl,
}: ComposeResourceParts): McpResourceServer {
  const { OPENID_ISSUER: loginIssuer } = env;
  const scopes = (env.OPENID_MCP_SCOPE ?? '').split(/\s+/).filter((word) => word !== '');
  return createMcpResourceServer({
    issuer: authorizationServer?.issuer ?? (loginIssuer === undefined ? null : () => loginIssuer),
    scopes,
    offeredScopes: authorizationServer ? [MCP_SCOPE] : scopes,
    ...{ endpoints, baseUrl },
  });
}
