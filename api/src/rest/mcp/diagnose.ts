import { diagnose, type DiagnoseParts } from '@behalf/gateway';
import type { Route } from '../../http/routes.ts';
import { createDisconnectSignal } from '../../middleware/callerDisconnect.ts';
import { createRestInbound } from './inbound.ts';

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
