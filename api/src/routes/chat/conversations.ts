import {
  ApprovalDecision,
  type ApprovalView,
  ConnectDecision,
  ConversationChange,
  type ConversationView,
  ConversationsQuery,
  type ConversationsView,
  type ModelsView,
} from '@behalf/contracts';
import { type Conversations, GatewayError, type RequirePermission } from '@behalf/gateway';
import { type Clock, sleep } from '@behalf/kernel';
import { parseBody, readBody } from '../../http/request.ts';
import { type Route, signedInRoute } from '../../http/route.ts';
import type { AnswerRuns } from './answerRuns.ts';
import type { Models } from './models.ts';
import type { PendingApprovals, PendingSignIns } from './pendingDecisions.ts';

interface ConversationRouteParts {
  readonly conversations: Conversations;
  readonly answerRuns: AnswerRuns;
  readonly models: Models;
  readonly pendingApprovals: PendingApprovals;
  readonly pendingSignIns: PendingSignIns;
  readonly requirePermission: () => RequirePermission;
  readonly clock: Clock;
}

/** A stopped answer has five seconds to store its message before its conversation is deleted. */
const STOP_POLL_MS = 100;
const MAX_STOP_POLLS = 50;

/** Stored conversations, the available models, and the user's decisions about an answer in progress. Any replica serves them. */
export function conversationRoutes(parts: ConversationRouteParts): Route[] {
  const { conversations, answerRuns, models, pendingApprovals, pendingSignIns, clock } = parts;
  const requirePermission = (...args: Parameters<RequirePermission>) => parts.requirePermission()(...args);
  return [
    signedInRoute('get', '/api/chat', 'mcp', async (req, res, caller) => {
      const query = parseBody(req.query, ConversationsQuery);
      res.json((await conversations.list(caller, query)) satisfies ConversationsView);
    }),
    signedInRoute('get', '/api/chat/models', 'mcp', async (_req, res, caller) => {
      requirePermission(caller, 'USE');
      res.json({ endpoints: await models.list(caller) } satisfies ModelsView);
    }),
    signedInRoute('get', '/api/chat/:id', 'mcp', async ({ params: { id } }, res, caller) => {
      const [{ conversation, messages }, isRunning] = await Promise.all([
        conversations.open(caller, id),
        answerRuns.isRunning(caller, id),
      ]);
      res.json({ ...conversation, messages, isRunning } satisfies ConversationView);
    }),
    signedInRoute('patch', '/api/chat/:id', 'mcp', async (req, res, caller) => {
      const { title } = readBody(req, ConversationChange);
      res.json(await conversations.rename(caller, req.params.id, title));
    }),
    signedInRoute('delete', '/api/chat/:id', 'mcp', async ({ params: { id } }, res, caller) => {
      if (await answerRuns.stop(caller, id)) {
        for (let polls = 0; polls < MAX_STOP_POLLS && (await answerRuns.isRunning(caller, id)); polls += 1)
          await sleep(clock, STOP_POLL_MS);
      }
      await conversations.remove(caller, id);
      res.status(204).end();
    }),
    signedInRoute('post', '/api/chat/:id/stop', 'mcp', async ({ params: { id } }, res, caller) => {
      // A running answer belongs to the caller. If none runs, check that the conversation does.
      if (!(await answerRuns.stop(caller, id))) await conversations.find(caller, id);
      res.status(202).json({});
    }),
    // Scope `none`: a program with an API key would approve its own calls.
    signedInRoute('post', '/api/chat/:id/approvals/:callId', 'none', async (req, res, caller) => {
      requirePermission(caller, 'USE');
      const { id, callId } = req.params;
      const { approve } = readBody(req, ApprovalDecision);
      const approvalId = await pendingApprovals.find(caller, id, callId);
      if (approvalId === undefined) {
        await conversations.find(caller, id);
        throw new GatewayError('MCP_APPROVAL_NOT_FOUND');
      }
      await pendingApprovals.decide(caller, id, approvalId, approve);
      res.json({ id: callId, approved: approve } satisfies ApprovalView);
    }),
    // Scope `none`: a call waits only for users who are signed in with a browser.
    signedInRoute('post', '/api/chat/:id/connects/:callId', 'none', async (req, res, caller) => {
      requirePermission(caller, 'USE');
      const { id, callId } = req.params;
      const { connected } = readBody(req, ConnectDecision);
      if (!(await pendingSignIns.resolve(caller, id, callId, connected ? 'connected' : 'declined'))) {
        await conversations.find(caller, id);
        throw new GatewayError('MCP_FLOW_NOT_FOUND');
      }
      res.status(202).json({});
    }),
  ];
}
