import { createConversations, type Log } from '@behalf/gateway';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Keyring } from '@behalf/kernel';
import { createAnswers } from './chat/answers.ts';
import { askRoute, type AskRouteParts } from './chat/askRoute.ts';
import { connectRoute } from './chat/connectRoute.ts';
import { controlRoutes } from './chat/controlRoutes.ts';
import { conversationRoutes } from './chat/conversationRoutes.ts';
import { createDecisions } from './chat/decisions.ts';
import { createAskModel } from './chat/model/askModel.ts';
import { createFetchedModels } from './chat/model/fetchedModels.ts';
import { createModels } from './chat/model/models.ts';
import { createSignIns } from './chat/signIns.ts';
import { createShowing } from './chat/tool/showing.ts';
import type { Closers } from './closers.ts';
import type { Servers } from './composeServers.ts';
import type { Configuration } from './configuration.ts';
import type { Route } from './http.ts';
import type { SwappableNetwork } from './network.ts';
import { createObserving, type ObservingParts } from './rest/mcp/observing.ts';

type Given = Pick<
  AskRouteParts,
  'clock' | 'random' | 'logger' | 'headers' | 'problemOf' | 'requestIds' | 'inFlight' | 'limits' | 'callers'
>;

export interface ComposeChatParts extends Given, Pick<ObservingParts, 'metrics' | 'labelOf'> {
  keyring: Keyring;
  log: Log;
  configuration: Configuration;
  primary: PrimaryStore;
  coordination: CoordinationStore;
  closers: Closers;
  door: Pick<SwappableNetwork, 'model'>;
  asking: Servers['asking'];
}

/** The door where people talk to a model that has their tools. */
export interface Chat {
  readonly routes: readonly Route[];
  drain(): void;
}

export function composeChat(parts: ComposeChatParts): Chat {
  const { clock, random, logger, keyring, log, configuration, primary, closers, door, asking } = parts;
  const { leases, changes } = parts.coordination;
  const cache = parts.coordination.cache('chats');
  const giveWay = () => new Promise<void>((resolve) => setImmediate(resolve));
  const store = primary.conversations;
  const conversations = createConversations({ store, keyring, clock, random, log, giveWay });
  const models = createModels({
    endpoints: () => configuration.current().endpoints.custom,
    fetched: createFetchedModels({ fetch: door.model, clock, logger }),
  });
  const answers = createAnswers({ leases, cache, changes, clock });
  closers.add(() => answers.close());
  const decisions = createDecisions({ approvals: asking.approvals, cache, changes, clock });
  const signIns = createSignIns({ cache, changes, clock });
  const { requirePermission } = asking;
  const common = { conversations, answers, models, decisions, signIns, requirePermission, clock };
  return {
    routes: [
      askRoute({
        ...parts,
        ...common,
        askModel: createAskModel(door.model),
        observe: createObserving(parts),
        showing: createShowing(),
      }),
      ...conversationRoutes(common),
      ...controlRoutes(common),
      connectRoute(common),
    ],
    drain: () => answers.drain(),
  };
}
