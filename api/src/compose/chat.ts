import { type Log, createConversations } from '@behalf/gateway';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Keyring } from '@behalf/kernel';
import type { Route } from '../http/route.ts';
import { createAnswerRuns } from '../routes/chat/answerRuns.ts';
import { type ChatRouteParts, chatRoute } from '../routes/chat/chat.ts';
import { conversationRoutes } from '../routes/chat/conversations.ts';
import { createCompletionClient } from '../routes/chat/modelClient.ts';
import { createFetchModels, createModels } from '../routes/chat/models.ts';
import { createPendingApprovals, createPendingSignIns } from '../routes/chat/pendingDecisions.ts';
import { createDisplayBudget } from '../routes/chat/results.ts';
import { type ObserveRequestParts, createObserveRequest } from '../routes/ops/observeRequest.ts';
import type { Configuration } from '../runtime/configuration.ts';
import type { Disposables } from '../runtime/lifecycle.ts';
import type { ReloadableNetwork } from '../runtime/network.ts';
import type { Servers } from './servers.ts';

type ChatRouteDependencies = Pick<
  ChatRouteParts,
  | 'clock'
  | 'random'
  | 'logger'
  | 'headers'
  | 'problemOf'
  | 'requestIds'
  | 'inFlight'
  | 'limits'
  | 'resolveCaller'
>;

interface ComposeChatParts extends ChatRouteDependencies, Pick<ObserveRequestParts, 'metrics' | 'labelOf'> {
  keyring: Keyring;
  log: Log;
  configuration: Configuration;
  primary: PrimaryStore;
  coordination: CoordinationStore;
  disposables: Disposables;
  egress: Pick<ReloadableNetwork, 'model'>;
  callParts: Servers['callParts'];
}

/** The door where people talk to a model that has their tools. */
interface ComposedChat {
  readonly routes: readonly Route[];
  drain(): void;
}

export function composeChat(parts: ComposeChatParts): ComposedChat {
  const { clock, random, logger, keyring, log, configuration, primary, disposables, egress, callParts } =
    parts;
  const { leases, changes } = parts.coordination;
  const cache = parts.coordination.cache('chats');
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
    conversations,
    answerRuns,
    models,
    pendingApprovals,
    pendingSignIns,
    requirePermission,
    clock,
  };
  return {
    routes: [
      chatRoute({
        ...parts,
        ...common,
        requestCompletion: createCompletionClient(egress.model),
        observe: createObserveRequest(parts),
        displayBudget: createDisplayBudget(),
      }),
      ...conversationRoutes(common),
    ],
    drain: () => answerRuns.drain(),
  };
}
