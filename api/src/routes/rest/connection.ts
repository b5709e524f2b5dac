import {
  type ConnectionStatusView,
  type ConnectionStatusesView,
  ReinitializeRequest,
  type ReinitializeView,
} from '@behalf/contracts';
import {
  type DiagnoseParts,
  type ReinitParts,
  type ReinitResult,
  type StatusParts,
  diagnose,
  getServerStatus,
  getServerStatuses,
  reinitialize,
} from '@behalf/gateway';
import { inboundOf } from '../../http/inbound.ts';
import { readBody } from '../../http/request.ts';
import { type Route, signedInRoute } from '../../http/route.ts';
import type { Logger } from '../../runtime/logger.ts';

interface StatusRouteParts extends StatusParts {
  /** The lifetime of a pending sign-in in milliseconds. */
  oauthTimeoutMs: number;
}

export function statusRoutes(parts: StatusRouteParts): Route[] {
  return [
    signedInRoute('get', '/api/mcp/connection/status', 'mcp', async (_req, res, caller) => {
      const view: ConnectionStatusesView = {
        success: true,
        connectionStatus: await getServerStatuses(parts, caller),
        oauthTimeout: parts.oauthTimeoutMs,
      };
      res.json(view);
    }),
    signedInRoute('get', '/api/mcp/connection/status/:serverName', 'mcp', async (req, res, caller) => {
      const { serverName } = req.params;
      const { connectionState, ...rest } = await getServerStatus(parts, caller, serverName);
      const view = { success: true, serverName, connectionStatus: connectionState, ...rest };
      res.json(view satisfies ConnectionStatusView);
    }),
  ];
}

/** Every attempt that ran is a 200: LibreChat branches on `success` and shows an error status only as a toast. */
export function reinitializeRoute(parts: ReinitParts, logger: Logger): Route {
  return signedInRoute('post', '/api/mcp/:serverName/reinitialize', 'mcp', async (req, res, caller) => {
    const { serverName } = req.params;
    const options = readBody(req, ReinitializeRequest);
    const outcome = await reinitialize(parts, serverName, options, inboundOf(req, res, caller));
    const { success, code } = outcome;
    logger.info('Server reinitialized', { server: serverName, success, ...(code && { code }) });
    res.json(reinitializeView(outcome));
  });
}

function reinitializeView({ tools, missingUserVars, ...rest }: ReinitResult): ReinitializeView {
  return {
    ...rest,
    ...(missingUserVars && { missingUserVars: [...missingUserVars] }),
    tools: tools && tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    availableTools:
      tools &&
      Object.fromEntries(
        tools.map(({ publicName, description, inputSchema }) => [
          publicName,
          { type: 'function', function: { name: publicName, description, parameters: inputSchema } },
        ]),
      ),
  };
}

/** Also a 200 for a missing or forbidden server: the first step of the diagnosis reports both in the same way. */
export function diagnoseRoute(parts: DiagnoseParts): Route {
  return signedInRoute('post', '/api/mcp/:serverName/diagnose', 'mcp', async (req, res, caller) =>
    res.json(await diagnose(parts, req.params.serverName, inboundOf(req, res, caller))),
  );
}
