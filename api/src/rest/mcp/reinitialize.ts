import { ReinitializeRequest, type ReinitializeView } from '@behalf/contracts';
import { reinitialize, type ReinitResult, type ReinitParts } from '@behalf/gateway';
import type { Route } from '../../http/routes.ts';
import type { Logger } from '../../logger.ts';
import { readBody } from '../../middleware/body.ts';
import { createDisconnectSignal } from '../../middleware/callerDisconnect.ts';
import { createRestInbound } from './inbound.ts';

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
