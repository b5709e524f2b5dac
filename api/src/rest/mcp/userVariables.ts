import { PluginsRequest, type AuthValuesView } from '@behalf/contracts';
import {
  actorOf,
  findServer,
  principalKey,
  type AccessParts,
  type Audit,
  type FindParts,
  type UserVariables,
} from '@behalf/gateway';
import type { Route } from '../../http.ts';
import { readBody } from '../../middleware/body.ts';

export interface VariableRouteParts extends FindParts, AccessParts {
  variables: UserVariables;
  audit: Audit;
  /** What was opened or listed with the old values is of no use any more. */
  forget: (serverId: string, principal: string) => Promise<void>;
}

const PREFIX = 'mcp_';

/** A user's own values for a server: whether they are set, and setting them. A value is never read back. */
export function variableRoutes(parts: VariableRouteParts): Route[] {
  const { variables, forget, audit } = parts;
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
          authValueFlags: await variables.flags(server, caller),
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
        else if (names.length === 0) await variables.removeAll(server, caller);
        else await variables.set(server, caller, Object.fromEntries(names.map((name) => [name, ''])));
        await forget(server.id, principalKey(caller));
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
