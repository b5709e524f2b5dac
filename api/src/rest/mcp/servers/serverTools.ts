import type { ServerToolsView } from '@behalf/contracts';
import { authorityOf, listServerTools, type ListToolsParts, type SingleServerTools } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import type { Logger } from '../../../logger.ts';
import { createDisconnectSignal } from '../../../middleware/callerDisconnect.ts';
import { createRestInbound } from '../inbound.ts';
import { warnUnreachable } from '../warnUnreachable.ts';

/** The tools a caller has of one server, with all that a form for them needs. */
export function serverToolsRoute(parts: ListToolsParts, logger: Logger): Route {
  return {
    method: 'get',
    path: '/api/mcp/servers/:serverName/tools',
    access: 'caller',
    scope: 'mcp',
    async handle(req, res, caller) {
      const { serverName } = req.params as { serverName: string };
      const inbound = createRestInbound({
        caller,
        headers: req.headers,
        signal: createDisconnectSignal(res),
      });
      const serverTools = await listServerTools(parts, inbound, serverName);
      warnUnreachable(logger, [serverTools]);
      res.json(toolsView(serverTools));
    },
  };
}

function toolsView({
  server,
  state,
  code,
  incomplete,
  tools,
  requiringApproval,
}: SingleServerTools): ServerToolsView {
  return {
    serverName: server.name,
    title: server.settings.title ?? server.name,
    state,
    ...(code !== undefined && { code }),
    ...(incomplete !== undefined && { incomplete: true }),
    authority: authorityOf(server),
    tools: tools.map(({ name, publicName, title, description = '', ...tool }) => ({
      name,
      publicName,
      ...(title !== undefined && { title }),
      description,
      inputSchema: tool.inputSchema,
      ...(tool.outputSchema && { outputSchema: tool.outputSchema }),
      ...(tool.annotations && { annotations: tool.annotations }),
      asksFirst: requiringApproval.has(name),
    })),
  };
}
