import { createConversations } from '@behalf/gateway';
import { type ObserveRequestParts, createObserveRequest } from '../http/inbound.ts';
import { createAnswerRuns } from '../routes/chat/answerRuns.ts';
import { type ChatRouteParts, chatRoute } from '../routes/chat/chat.ts';
import { conversationRoutes } from '../routes/chat/conversations.ts';
import { createCompletionClient } from '../routes/chat/modelClient.ts';
import { createFetchModels, createModels } from '../routes/chat/models.ts';
import { createPendingApprovals, createPendingSignIns } from '../routes/chat/pendingDecisions.ts';
import { createDisplayBudget } from '../routes/chat/results.ts';
import type { ComposeContext } from './context.ts';
import type { Servers } from './servers.ts';

type ChatParts = Pick<
  ChatRouteParts,
  'headers' | 'problemOf' | 'requestIds' | 'inFlight' | 'limits' | 'resolveCaller'
> &
  ObserveRequestParts &
  Pick<Servers, 'callParts'>;

/** The chat: conversations, models, and answers that call tools as their user. */
export function composeChat(context: ComposeContext, parts: ChatParts) {
  const { clock, random, logger, keyring, log, configuration, primary, disposables, egress } = context;
  const { leases, changes } = context.coordination;
  const { callParts } = parts;
  const cache = context.coordination.cache('chats');
  const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve));
  const store = primary.conversations;
  const conversations = createConversations({ store, keyring, clock, random, log, yieldToEventLoop });
  const models = createModels({
    endpoints: () => configuration.current().endpoints.custom,
    fetchModels: createFetchModels({ fetch: egress.model, clock, logger }),
  });
  const answerRuns = createAnswerRuns({ leases, cache, changes, clock });
  disposables.add(() => answerRuns.close());
  const pendingApprovals = createPendingApprovals({ approvals: callParts.approvals, cache, changes, clock });
  const pendingSignIns = createPendingSignIns({ cache, changes, clock });
  const { requirePermission } = callParts;
  const common = {
    ...{ conversations, answerRuns, models, pendingApprovals, pendingSignIns },
    ...{ requirePermission, clock },
  };
  return {
    routes: [
      chatRoute({
        ...{ ...parts, ...common, random, logger },
        requestCompletion: createCompletionClient(egress.model),
        observe: createObserveRequest(parts),
        displayBudget: createDisplayBudget(),
      }),
      ...conversationRoutes(common),
    ],
    drain: () => answerRuns.drain(),
  };
}
