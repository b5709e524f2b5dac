import {
  ConversationChange,
  ConversationsQuery,
  type ConversationsView,
  type ConversationView,
  type ModelsView,
} from '@behalf/contracts';
import type { Conversations, RequirePermission, UserPrincipal } from '@behalf/gateway';
import { sleep, type Clock } from '@behalf/kernel';
import type { Route } from '../http/routes.ts';
import { parseBody, readBody } from '../middleware/body.ts';
import type { AnswerRuns } from './answerRuns.ts';
import type { Models } from './model/models.ts';

export interface ConversationRouteParts {
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
