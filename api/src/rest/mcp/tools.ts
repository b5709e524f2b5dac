import type { ToolsView } from '@behalf/contracts';
import {
  listSharedTools,
  type RequirePermission,
  type ServerTools,
  type SharedUpstreams,
} from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import type { Route } from '../../http.ts';
import type { Logger } from '../../logger.ts';
import { whenCallerLeaves } from '../../middleware/whenCallerLeaves.ts';

export interface ToolsParts {
  upstreams: SharedUpstreams;
  requirePermission: () => RequirePermission;
  clock: Clock;
  logger: Logger;
}

/** The tools a user has, server by server. */
export function toolsRoute({ upstreams, requirePermission, clock, logger }: ToolsParts): Route {
  return {
    method: 'get',
    path: '/api/mcp/tools',
    access: 'signed-in',
    async handle(_req, res, caller) {
      requirePermission()(caller, 'USE');
      const listed = await listSharedTools(upstreams, { clock, signal: whenCallerLeaves(res) });
      for (const { server, ...rest } of listed) {
        if (rest.state === 'unreachable')
          logger.warn('A server cannot be reached', { server, code: rest.code });
      }
      const view: ToolsView = {
        servers: Object.fromEntries(listed.map((entry) => [entry.server, serverView(entry)])),
      };
      res.json(view);
    },
  };
}

function serverView(entry: ServerTools): ToolsView['servers'][string] {
  const base = { name: entry.server, icon: '', authenticated: true, authConfig: [] };
  if (entry.state === 'unreachable') return { ...base, tools: [], state: entry.state, code: entry.code };
  const tools = entry.tools.map(({ name, description = '' }) => ({
    name,
    pluginKey: `${name}_mcp_${entry.server}`,
    description,
  }));
  return { ...base, tools, state: entry.state };
}
