import { createConversations, type Log } from '@behalf/gateway';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Keyring } from '@behalf/kernel';
import { createAnswerRuns } from './chat/answerRuns.ts';
import { chatRoute, type ChatRouteParts } from './chat/chatRoute.ts';
import { chatConnectRoute } from './chat/connectRoute.ts';
import { controlRoutes } from './chat/controlRoutes.ts';
import { conversationRoutes } from './chat/conversationRoutes.ts';
import { createPendingApprovals } from './chat/pendingApprovals.ts';
import { createCompletionClient } from './chat/model/chatCompletions.ts';
import { createFetchModels } from './chat/model/fetchModels.ts';
import { createModels } from './chat/model/models.ts';
import { createPendingSignIns } from './chat/pendingSignIns.ts';
import { createDisplayBudget } from './chat/tool/displayBudget.ts';
import type { Disposables } from './disposables.ts';
import type { Servers } from './composeServers.ts';
import type { Configuration } from './configuration.ts';
import type { Route } from './http/routes.ts';
import type { ReloadableNetwork } from './network.ts';
import { createObserveRequest, type ObserveRequestParts } from './rest/mcp/observeRequest.ts';

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

export interface ComposeChatParts
  extends ChatRouteDependencies, Pick<ObserveRequestParts, 'metrics' | 'labelOf'> {
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
export interface ComposedChat {
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
      ...controlRoutes(common),
      chatConnectRoute(common),
    ],
    drain: () => answerRuns.drain(),
  };
}
