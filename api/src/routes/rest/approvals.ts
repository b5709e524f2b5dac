import { ApprovalDecision, type ApprovalView, type ApprovalsView } from '@behalf/contracts';
import type { Approvals, RequirePermission } from '@behalf/gateway';
import { readBody } from '../../http/request.ts';
import { type Route, signedInRoute } from '../../http/route.ts';

interface ApprovalRouteParts {
  approvals: Pick<Approvals, 'decide' | 'pending'>;
  requirePermission: () => RequirePermission;
}

/** Tool calls that wait for the approval of their user, and the decision about each. */
export function approvalRoutes({ approvals, requirePermission }: ApprovalRouteParts): Route[] {
  return [
    signedInRoute('get', '/api/mcp/approvals', 'mcp', async (_req, res, caller) => {
      requirePermission()(caller, 'USE');
      const pending = await approvals.pending(caller);
      const view: ApprovalsView = {
        approvals: pending.map(({ id, server, tool, argumentNames, expiresAt }) => ({
          ...{ id, server, tool, expiresAt },
          arguments: [...argumentNames],
        })),
      };
      res.json(view);
    }),
    // Scope `none`: a program with an API key could otherwise approve its own calls.
    signedInRoute('post', '/api/mcp/approvals/:id', 'none', async (req, res, caller) => {
      requirePermission()(caller, 'USE');
      const { id } = req.params;
      const { approve } = readBody(req, ApprovalDecision);
      await approvals.decide(caller, id, approve);
      res.json({ id, approved: approve } satisfies ApprovalView);
    }),
  ];
}
