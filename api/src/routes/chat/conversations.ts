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
import {
  type Conversations,
  GatewayError,
  type RequirePermission,
  type UserPrincipal,
} from '@behalf/gateway';
import { type Clock, sleep } from '@behalf/kernel';
import { parseBody, readBody } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';
import type { AnswerRuns } from './answerRuns.ts';
import type { Models } from './models.ts';
import type { PendingApprovals, PendingSignIns } from './pendingDecisions.ts';

interface ConversationRouteParts {
  readonly conversations: Conversations;
  readonly answerRuns: AnswerRuns;
  readonly models: Models;
  readonly requirePermission: () => RequirePermission;
  readonly clock: Clock;
}

/** An answer that was stopped has this long to be kept before its conversation goes. */
const STOP_POLL_MS = 100;
const MAX_STOP_POLLS = 50;

/** What one has said and heard, and what models there are to talk to. */
export function conversationRoutes(parts: ConversationRouteParts): Route[] {
  const { conversations, answerRuns, models, requirePermission, clock } = parts;

  async function stopAndWait(owner: UserPrincipal, id: string): Promise<void> {
    if (!(await answerRuns.stop(owner, id))) return;
    for (let polls = 0; polls < MAX_STOP_POLLS && (await answerRuns.isRunning(owner, id)); polls += 1) {
      await sleep(clock, STOP_POLL_MS);
    }
  }

  const idOf = ({ params }: { params: object }) => (params as { id: string }).id;
  return [
    {
      method: 'get',
      path: '/api/chat',
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        const view: ConversationsView = await conversations.list(
          caller,
          parseBody(req.query, ConversationsQuery),
        );
        res.json(view);
      },
    },
    {
      method: 'get',
      path: '/api/chat/models',
      access: 'signed-in',
      scope: 'mcp',
      async handle(_req, res, caller) {
        requirePermission()(caller, 'USE');
        const view: ModelsView = { endpoints: await models.list(caller) };
        res.json(view);
      },
    },
    {
      method: 'get',
      path: '/api/chat/:id',
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        const id = idOf(req);
        const [{ conversation, messages }, isRunning] = await Promise.all([
          conversations.open(caller, id),
          answerRuns.isRunning(caller, id),
        ]);
        const view: ConversationView = { ...conversation, messages, isRunning };
        res.json(view);
      },
    },
    {
      method: 'patch',
      path: '/api/chat/:id',
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { title } = readBody(req, ConversationChange);
        res.json(await conversations.rename(caller, idOf(req), title));
      },
    },
    {
      method: 'delete',
      path: '/api/chat/:id',
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        const id = idOf(req);
        await stopAndWait(caller, id);
        await conversations.remove(caller, id);
        res.status(204).end();
      },
    },
  ];
}

interface ControlRouteParts {
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

interface ChatConnectRouteParts {
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
