import { type AuthValuesView, PluginsRequest } from '@behalf/contracts';
import {
  type AccessParts,
  type Audit,
  GatewayError,
  type ServerLookupParts,
  type UserPrincipal,
  type UserVariables,
  actorOf,
  findServer,
  principalKey,
} from '@behalf/gateway';
import { readBody } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';
import { type EndConnectionsParts, credentialsAt, endConnections } from './credentials.ts';

interface VariableRouteParts extends ServerLookupParts, AccessParts, EndConnectionsParts {
  variables: UserVariables;
  audit: Audit;
}

const PREFIX = 'mcp_';

/** A user's own values for a server: whether they are set, and setting them. A value is never read back. */
export function variableRoutes(parts: VariableRouteParts): Route[] {
  const { variables, invalidateUserState, audit } = parts;

  /** Whoever takes a server away altogether is signed out there too. */
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
      await audit.record({
        ...{ kind: 'credential', action: 'oauth.disconnect', tenant: caller.tenant, actor: actorOf(caller) },
        ...{ door: 'rest', outcome: 'ok', server: server.name, serverId: server.id },
      });
    }
  }

  return [
    {
      method: 'get',
      path: '/api/mcp/:serverName/auth-values',
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { serverName } = req.params as { serverName: string };
        const server = findServer(parts, caller, serverName);
        const view: AuthValuesView = {
          success: true,
          serverName: server.name,
          authValueFlags: await variables.readSetFlags(server, caller),
        };
        res.json(view);
      },
    },
    {
      method: 'post',
      path: '/api/user/plugins',
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { pluginKey, action, auth } = readBody(req, PluginsRequest);
        const server = findServer(parts, caller, pluginKey.slice(PREFIX.length));
        const names = Object.keys(auth);
        if (action === 'install') await variables.set(server, caller, auth);
        else if (names.length === 0) await removeAll(server, caller);
        else await variables.set(server, caller, Object.fromEntries(names.map((name) => [name, ''])));
        await invalidateUserState(server.id, principalKey(caller));
        await audit.record({
          kind: 'credential',
          action: action === 'install' ? 'values.set' : 'values.remove',
          tenant: caller.tenant,
          actor: actorOf(caller),
          door: 'rest',
          outcome: 'ok',
          server: server.name,
          serverId: server.id,
          changed: names,
        });
        res.json({ success: true });
      },
    },
  ];
}
