import type { Env } from '@behalf/contracts';
import type { Access } from './composeAccess.ts';
import { SCOPE } from './facade/resources.ts';
import type { Endpoints } from './resource/endpoints.ts';
import { createResourceServer, type ResourceServer } from './resource/resourceServer.ts';

export interface ComposeResourceParts {
  readonly env: Pick<Env, 'OPENID_ISSUER' | 'OPENID_MCP_SCOPE'>;
  readonly facade: Access['facade'];
  readonly endpoints: Endpoints;
  readonly base: () => string;
}

/** The MCP endpoints as an OAuth resource server: of our own authorization server where there is one, else of the identity provider. */
export function composeResource({ env, facade, endpoints, base }: ComposeResourceParts): ResourceServer {
  const { OPENID_ISSUER: loginIssuer } = env;
  const scopes = (env.OPENID_MCP_SCOPE ?? '').split(/\s+/).filter((word) => word !== '');
  return createResourceServer({
    issuer: facade?.issuer ?? (loginIssuer === undefined ? null : () => loginIssuer),
    scopes,
    offered: facade ? [SCOPE] : scopes,
    ...{ endpoints, base },
  });
}
