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
import { createDisconnectSignal, readBody } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';
import type { Logger } from '../../runtime/logger.ts';
import { createRestInbound } from './serverResponder.ts';

interface StatusRouteParts extends StatusParts {
  /** How long a user has for a sign-in, in milliseconds. */
  oauthTimeoutMs: number;
}

export function statusRoutes(parts: StatusRouteParts): Route[] {
  return [
    {
      method: 'get',
      path: '/api/mcp/connection/status',
      access: 'signed-in',
      scope: 'mcp',
      async handle(_req, res, caller) {
        const view: ConnectionStatusesView = {
          success: true,
          connectionStatus: await getServerStatuses(parts, caller),
          oauthTimeout: parts.oauthTimeoutMs,
        };
        res.json(view);
      },
    },
    {
      method: 'get',
      path: '/api/mcp/connection/status/:serverName',
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { serverName } = req.params as { serverName: string };
        const { connectionState, ...rest } = await getServerStatus(parts, caller, serverName);
        const view: ConnectionStatusView = {
          success: true,
          serverName,
          connectionStatus: connectionState,
          ...rest,
        };
        res.json(view);
      },
    },
  ];
}

/** 200 for every attempt that ran: existing front ends branch on `success`, and show an error status as a mere toast. */
export function reinitializeRoute(parts: ReinitParts, logger: Logger): Route {
  return {
    method: 'post',
    path: '/api/mcp/:serverName/reinitialize',
    access: 'signed-in',
    scope: 'mcp',
    async handle(req, res, caller) {
      const { serverName } = req.params as { serverName: string };
      const options = readBody(req, ReinitializeRequest);
      const signal = createDisconnectSignal(res);
      const inbound = createRestInbound({ caller, headers: req.headers, signal });
      const outcome = await reinitialize(parts, serverName, options, inbound);
      const { success, code } = outcome;
      logger.info('Server reinitialized', { server: serverName, success, ...(code && { code }) });
      res.json(reinitializeView(outcome));
    },
  };
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

/** 200 also for what is not there: that it is not is what the first step says, for a forbidden server and an unknown one alike. */
export function diagnoseRoute(parts: DiagnoseParts): Route {
  return {
    method: 'post',
    path: '/api/mcp/:serverName/diagnose',
    access: 'signed-in',
    scope: 'mcp',
    async handle(req, res, caller) {
      const { serverName } = req.params as { serverName: string };
      const inbound = createRestInbound({
        caller,
        headers: req.headers,
        signal: createDisconnectSignal(res),
      });
      res.json(await diagnose(parts, serverName, { ...inbound, principal: caller }));
    },
  };
}
