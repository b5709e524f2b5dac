import { ApprovalDecision, type ApprovalView, type ApprovalsView } from '@behalf/contracts';
import type { Approvals, RequirePermission } from '@behalf/gateway';
import { readBody } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';

interface ApprovalRouteParts {
  approvals: Pick<Approvals, 'decide' | 'pending'>;
  requirePermission: () => RequirePermission;
}

/** The calls that wait for their user's word, and that word. */
export function approvalRoutes({ approvals, requirePermission }: ApprovalRouteParts): Route[] {
  return [
    {
      method: 'get',
      path: '/api/mcp/approvals',
      access: 'signed-in',
      scope: 'mcp',
      async handle(_req, res, caller) {
        requirePermission()(caller, 'USE');
        const pending = await approvals.pending(caller);
        const view: ApprovalsView = {
          approvals: pending.map(({ id, server, tool, argumentNames, expiresAt }) => ({
            id,
            server,
            tool,
            arguments: [...argumentNames],
            expiresAt,
          })),
        };
        res.json(view);
      },
    },
    {
      method: 'post',
      path: '/api/mcp/approvals/:id',
      access: 'signed-in',
      // Somebody has to say so: a program with a key would approve its own calls.
      scope: 'none',
      async handle(req, res, caller) {
        requirePermission()(caller, 'USE');
        const { id } = req.params as { id: string };
        const { approve } = readBody(req, ApprovalDecision);
        await approvals.decide(caller, id, approve);
        const view: ApprovalView = { id, approved: approve };
        res.json(view);
      },
    },
  ];
}
