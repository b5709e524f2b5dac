import { ApprovalDecision, type ApprovalView } from '@behalf/contracts';
import { GatewayError, type Conversations, type RequirePermission } from '@behalf/gateway';
import type { Route } from '../http/routes.ts';
import { readBody } from '../middleware/body.ts';
import type { AnswerRuns } from './answerRuns.ts';
import type { PendingApprovals } from './pendingApprovals.ts';

export interface ControlRouteParts {
  readonly conversations: Pick<Conversations, 'find'>;
  readonly answerRuns: AnswerRuns;
  readonly pendingApprovals: PendingApprovals;
  readonly requirePermission: () => RequirePermission;
}

/** What its user says to an answer that is being written: stop, and yes or no to a call. At any replica. */
export function controlRoutes(parts: ControlRouteParts): Route[] {
  const { conversations, answerRuns, pendingApprovals, requirePermission } = parts;
  return [
    {
      method: 'post',
      path: '/api/chat/:id/stop',
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        // What runs belongs to the caller; of what does not run it must be found out.
        if (!(await answerRuns.stop(caller, id))) await conversations.find(caller, id);
        res.status(202).json({});
      },
    },
    {
      method: 'post',
      path: '/api/chat/:id/approvals/:callId',
      access: 'signed-in',
      // Somebody has to say so: a program with a key would approve its own calls.
      scope: 'none',
      async handle(req, res, caller) {
        requirePermission()(caller, 'USE');
        const { id, callId } = req.params as { id: string; callId: string };
        const { approve } = readBody(req, ApprovalDecision);
        const approval = await pendingApprovals.find(caller, id, callId);
        if (approval === undefined) {
          await conversations.find(caller, id);
          throw new GatewayError('MCP_APPROVAL_NOT_FOUND');
        }
        await pendingApprovals.decide(caller, id, approval, approve);
        const view: ApprovalView = { id: callId, approved: approve };
        res.json(view);
      },
    },
  ];
}
