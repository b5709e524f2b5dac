import { z } from 'zod';

/** `POST /api/mcp/approvals/:id` */
export const ApprovalDecision = z.strictObject({ approve: z.boolean() });
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;

export const ApprovalView = z.object({ id: z.string(), approved: z.boolean() });
export type ApprovalView = z.infer<typeof ApprovalView>;

/** `GET /api/mcp/approvals`: what waits for the caller's word. Names only: no value of an argument is kept. */
export const ApprovalsView = z.object({
  approvals: z.array(
    z.object({
      id: z.string(),
      server: z.string(),
      tool: z.string(),
      arguments: z.array(z.string()),
      /** Milliseconds since the epoch. */
      expiresAt: z.number(),
    }),
  ),
});
export type ApprovalsView = z.infer<typeof ApprovalsView>;
