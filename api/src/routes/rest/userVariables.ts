import { type AuthValuesView, PluginsRequest } from '@behalf/contracts';
import {
  type AccessParts,
  type Audit,
  GatewayError,
  type ServerLookupParts,
  type UserPrincipal,
  type UserVariables,
  findServer,
  principalKey,
} from '@behalf/gateway';
import { recordSuccess } from '../../http/audit.ts';
import { readBody } from '../../http/request.ts';
import { type Route, signedInRoute } from '../../http/route.ts';
import { type EndConnectionsParts, credentialsAt, endConnections } from './credentials.ts';

interface VariableRouteParts extends ServerLookupParts, AccessParts, EndConnectionsParts {
  variables: UserVariables;
  audit: Audit;
}

const PREFIX = 'mcp_';

/** A user's values for the `customUserVars` of a server. Values are write-only: responses say only which are set. */
export function variableRoutes(parts: VariableRouteParts): Route[] {
  const { variables, invalidateUserState, audit } = parts;

  /** Removing all values of a server also disconnects the user's OAuth credentials there. */
  async function removeAll(server: ReturnType<typeof findServer>, caller: UserPrincipal): Promise<void> {
    const { authentication } = caller;
    const credentials = await credentialsAt(parts, server, caller);
    if (
      credentials.length > 0 &&
      authentication.via === 'api_key' &&
      !authentication.scopes.includes('servers')
    ) {
      throw new GatewayError('API_KEY_SCOPE', { detail: 'The API key needs the scope "servers".' });
    }
    await variables.removeAll(server, caller);
    const { disconnected } = await endConnections(parts, server, caller);
    if (disconnected) {
      await recordSuccess(audit, caller, {
        ...{ kind: 'credential', action: 'oauth.disconnect', door: 'rest' },
        ...{ server: server.name, serverId: server.id },
      });
    }
  }

  return [
    signedInRoute('get', '/api/mcp/:serverName/auth-values', 'mcp', async (req, res, caller) => {
      const server = findServer(parts, caller, req.params.serverName);
      const view: AuthValuesView = {
        success: true,
        serverName: server.name,
        authValueFlags: await variables.readSetFlags(server, caller),
      };
      res.json(view);
    }),
    signedInRoute('post', '/api/user/plugins', 'mcp', async (req, res, caller) => {
      const { pluginKey, action, auth } = readBody(req, PluginsRequest);
      const server = findServer(parts, caller, pluginKey.slice(PREFIX.length));
      const names = Object.keys(auth);
      if (action === 'install') await variables.set(server, caller, auth);
      else if (names.length === 0) await removeAll(server, caller);
      else await variables.set(server, caller, Object.fromEntries(names.map((name) => [name, ''])));
      await invalidateUserState(server.id, principalKey(caller));
      await recordSuccess(audit, caller, {
        kind: 'credential',
        action: action === 'install' ? 'values.set' : 'values.remove',
        ...{ door: 'rest', server: server.name, serverId: server.id, changed: names },
      });
      res.json({ success: true });
    }),
  ];
}
