import { ConnectDecision } from '@behalf/contracts';
import { GatewayError, type Conversations, type RequirePermission } from '@behalf/gateway';
import type { Route } from '../http/routes.ts';
import { readBody } from '../middleware/body.ts';
import type { PendingSignIns } from './pendingSignIns.ts';

export interface ChatConnectRouteParts {
  readonly conversations: Pick<Conversations, 'find'>;
  readonly pendingSignIns: PendingSignIns;
  readonly requirePermission: () => RequirePermission;
}

/** That its user has signed in at the server that a call waits for, or does not want to. At any replica. */
export function chatConnectRoute({
  conversations,
  pendingSignIns,
  requirePermission,
}: ChatConnectRouteParts): Route {
  return {
    method: 'post',
    path: '/api/chat/:id/connects/:callId',
    access: 'signed-in',
    // Only who is signed in in a browser is waited for.
    scope: 'none',
    async handle(req, res, caller) {
      requirePermission()(caller, 'USE');
      const { id, callId } = req.params as { id: string; callId: string };
      const { connected } = readBody(req, ConnectDecision);
      if (!(await pendingSignIns.resolve(caller, id, callId, connected ? 'connected' : 'declined'))) {
        await conversations.find(caller, id);
        throw new GatewayError('MCP_FLOW_NOT_FOUND');
      }
      res.status(202).json({});
    },
  };
}
