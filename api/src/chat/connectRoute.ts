import { ConnectWord } from '@behalf/contracts';
import { GatewayError, type Conversations, type RequirePermission } from '@behalf/gateway';
import type { Route } from '../http.ts';
import { readBody } from '../middleware/body.ts';
import type { SignIns } from './signIns.ts';

export interface ConnectRouteParts {
  readonly conversations: Pick<Conversations, 'find'>;
  readonly signIns: SignIns;
  readonly requirePermission: () => RequirePermission;
}

/** That its user has signed in at the server that a call waits for, or does not want to. At any replica. */
export function connectRoute({ conversations, signIns, requirePermission }: ConnectRouteParts): Route {
  return {
    method: 'post',
    path: '/api/chat/:id/connects/:callId',
    access: 'signed-in',
    // Only who is signed in in a browser is waited for.
    scope: 'none',
    async handle(req, res, caller) {
      requirePermission()(caller, 'USE');
      const { id, callId } = req.params as { id: string; callId: string };
      const { connected } = readBody(req, ConnectWord);
      if (!(await signIns.tell(caller, id, callId, connected ? 'connected' : 'declined'))) {
        await conversations.find(caller, id);
        throw new GatewayError('MCP_FLOW_NOT_FOUND');
      }
      res.status(202).json({});
    },
  };
}
