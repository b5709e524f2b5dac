import { ToolCallRequest } from '@behalf/contracts';
import { callSharedTool, GatewayError } from '@behalf/gateway';
import type { Route } from '../../http.ts';
import { readBody } from '../../middleware/body.ts';
import { whenCallerLeaves } from '../../middleware/whenCallerLeaves.ts';
import type { ToolsParts } from './tools.ts';

export function callToolRoute({ upstreams, requirePermission, logger }: Omit<ToolsParts, 'clock'>): Route {
  return {
    method: 'post',
    path: '/api/mcp/servers/:serverName/tools/:toolName/call',
    access: 'signed-in',
    async handle(req, res, caller) {
      requirePermission()(caller, 'USE');
      const { serverName: server, toolName: tool } = req.params as { serverName: string; toolName: string };
      const { arguments: args } = readBody(req, ToolCallRequest);
      const signal = whenCallerLeaves(res);
      try {
        res.json(await callSharedTool(upstreams, { server, tool, args, signal }));
      } catch (error) {
        if (signal.aborted) return;
        // The server's own words stay out of the log: their size and content are its choice.
        if (error instanceof GatewayError) logger.warn('A call failed', { server, tool, code: error.code });
        throw error;
      }
    },
  };
}
