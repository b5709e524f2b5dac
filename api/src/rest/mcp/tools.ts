import type { ToolsView } from '@behalf/contracts';
import { listDeclaredVariables, listTools, type ListToolsParts, type ServerTools } from '@behalf/gateway';
import type { Route } from '../../http/routes.ts';
import type { Logger } from '../../logger.ts';
import { createDisconnectSignal } from '../../middleware/callerDisconnect.ts';
import { createRestInbound } from './inbound.ts';
import { warnUnreachable } from './warnUnreachable.ts';

/** The tools a user has, server by server. One that fails says so and takes nothing from the others. */
export function toolsRoute(parts: ListToolsParts, logger: Logger): Route {
  return {
    method: 'get',
    path: '/api/mcp/tools',
    access: 'caller',
    scope: 'mcp',
    async handle(req, res, caller) {
      const signal = createDisconnectSignal(res);
      const servers = await listTools(parts, createRestInbound({ caller, headers: req.headers, signal }));
      warnUnreachable(logger, servers);
      const view: ToolsView = {
        servers: Object.fromEntries(servers.map((entry) => [entry.server.name, serverView(entry)])),
      };
      res.json(view);
    },
  };
}

function serverView({ server, state, code, tools, incomplete }: ServerTools): ToolsView['servers'][string] {
  return {
    name: server.name,
    title: server.settings.title ?? server.name,
    icon: server.settings.iconPath ?? '',
    authenticated: state !== 'needs_configuration' && state !== 'needs_authorization',
    authConfig: listDeclaredVariables(server.settings).map((authField) => {
      const {
        title = 'API key',
        description = '',
        sensitive = true,
      } = server.settings.customUserVars?.[authField] ?? {};
      return { authField, label: title, description, sensitive };
    }),
    tools: tools.map(({ name, title, publicName, description = '' }) => ({
      name,
      ...(title !== undefined && { title }),
      pluginKey: publicName,
      description,
      serverToolName: name,
    })),
    state,
    ...(code !== undefined && { code }),
    ...(incomplete !== undefined && { incomplete: true }),
  };
}
