import { BlockCheckRequest } from '@behalf/contracts';
import { checkBlocks, type RunBlockParts } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import { readBody } from '../../../middleware/body.ts';
import { createDisconnectSignal } from '../../../middleware/callerDisconnect.ts';
import { createRestInbound } from '../inbound.ts';

/** Whether blocks would run for the caller now, and what they wait for. Nothing runs. */
export function checkBlocksRoute(parts: RunBlockParts): Route {
  return {
    method: 'post',
    path: '/api/mcp/blocks/check',
    access: 'caller',
    scope: 'mcp',
    async handle(req, res, caller) {
      const inbound = createRestInbound({
        caller,
        headers: req.headers,
        signal: createDisconnectSignal(res),
      });
      res.json(await checkBlocks(parts, inbound, readBody(req, BlockCheckRequest)));
    },
  };
}
