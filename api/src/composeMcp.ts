import {
  createToolSearch,
  subscribeToSignOuts,
  type EndpointParts,
  type SubscribeParts,
} from '@behalf/gateway';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import type { Disposables } from './disposables.ts';
import type { ComposedAccess } from './composeAccess.ts';
import type { Servers } from './composeServers.ts';
import type { RateLimits } from './http/rateLimits.ts';
import { apiHeaders } from './http/securityHeaders.ts';
import type { Route } from './http/routes.ts';
import type { Method } from './mcp/mcpRequest.ts';
import { createPaginate } from './mcp/cursors.ts';
import { createMcpPostHandler } from './mcp/mcpPostHandler.ts';
import { createInitialize } from './mcp/initialize.ts';
import { createInstructions } from './mcp/instructions.ts';
import { createLegacyHandler } from './mcp/legacyHandler.ts';
import { createConnectLinks } from './oauth/connectLinks.ts';
import { completionMethods } from './mcp/methods/completion.ts';
import { createListen } from './mcp/methods/listen.ts';
import type { MethodParts } from './mcp/methods/methodParts.ts';
import { discoverMethod } from './mcp/methods/discover.ts';
import { promptMethods } from './mcp/methods/prompts.ts';
import { resourceMethods, subscribeMethods } from './mcp/methods/resources.ts';
import { sessionMethods } from './mcp/methods/sessionMethods.ts';
import { taskMethods } from './mcp/methods/tasks.ts';
import { toolMethods } from './mcp/methods/tools.ts';
import { createSuspendedCalls } from './mcp/suspendedCalls/suspendedCalls.ts';
import { createRequestStates } from './mcp/requestState.ts';
import { createResultJson, type ServerInfo } from './mcp/resultJson.ts';
import { mcpRoutes } from './mcp/routes.ts';
import { createTaskIds } from './mcp/taskIds.ts';
import { createServeRequest, toClientFault, type ServeRequestParts } from './mcp/serveRequest.ts';
import { createClientRequests } from './mcp/session/clientRequests.ts';
import { createElicitations } from './mcp/session/elicitations.ts';
import { createMailbox } from './mcp/session/mailbox.ts';
import { createRequireSession } from './mcp/session/requireSession.ts';
import { createMcpSessions } from './mcp/session/sessions.ts';
import { createSharedLists } from './mcp/session/sharedLists.ts';
import { createSessionStreams } from './mcp/session/sessionStreams.ts';
import { createSessionStates } from './mcp/session/sessionStates.ts';
import { createSessionSubscriptions } from './mcp/session/subscriptions.ts';
import { createEventIds } from './mcp/stream/eventIds.ts';
import { createSubscribeElicitations } from './mcp/stream/elicitationSubscription.ts';
import { createSubscribeLists } from './mcp/stream/listSubscription.ts';
import { createSubscribeResources } from './mcp/stream/resourceSubscription.ts';
import { createOpenStreams } from './mcp/stream/openStreams.ts';
import { createStreamBuffers } from './mcp/stream/streamBuffer.ts';
import { createSharedTicker } from './mcp/stream/sharedTicker.ts';
import { createStreamHandler } from './mcp/streamHandler.ts';
import type { ObserveRequestParts } from './rest/mcp/observeRequest.ts';
import { version } from './version.ts';

export interface ComposeMcpParts extends ObserveRequestParts, ServeRequestParts {
  clock: Clock;
  random: Random;
  keyring: Keyring;
  primary: Pick<PrimaryStore, 'users'>;
  access: Pick<ComposedAccess, 'callerWatch'>;
  coordination: CoordinationStore;
  disposables: Disposables;
  limits: Pick<RateLimits, 'consume'>;
  headers: Readonly<Record<string, string>>;
  requestIds: () => string;
  baseUrl: () => string;
  /** Whether clients may come with a token that an identity provider arranged, without their user. */
  acceptsIdJags: boolean;
  servers: Pick<
    Servers,
    'callParts' | 'itemLists' | 'listSubscriptions' | 'listChanges' | 'serverKeys' | 'naming'
  >;
}

/** The door for every MCP client. */
export interface ComposedMcp {
  readonly routes: readonly Route[];
  drain(): void;
}

export function composeMcp(parts: ComposeMcpParts): ComposedMcp {
  const { clock, random, keyring, coordination, disposables, baseUrl } = parts;
  const { changes } = coordination;
  const cache = coordination.cache('mcp');
  const {
    callParts: gatewayParts,
    itemLists,
    listSubscriptions,
    listChanges,
    serverKeys,
    naming,
  } = parts.servers;
  const servers: EndpointParts & SubscribeParts = {
    ...gatewayParts,
    itemLists,
    listSubscriptions,
    serverKeys,
    naming,
  };
  const headers = Object.entries(apiHeaders(parts.headers)).flat();
  const info: ServerInfo = { name: 'behalf', title: 'Behalf', version };
  const results = createResultJson(info);
  const sessions = createMcpSessions({ keyring, clock, random });
  const states = createSessionStates({ cache, changes, clock });
  disposables.add(() => states.close());
  const sessionStreams = createSessionStreams({ cache, changes, states, clock, random });
  disposables.add(() => sessionStreams.close());
  const mailbox = createMailbox({ cache, changes, keyring, clock });
  disposables.add(() => mailbox.close());
  const lists = createSharedLists({ cache, clock, leases: coordination.leases });
  const elicitations = createElicitations({ lists, changes, clock });
  const replica = random.id();
  const streamBuffers = createStreamBuffers({
    ...{ clock, random, keyring, mailbox, cache, changes, lists, replica },
    eventIds: createEventIds(keyring),
  });
  disposables.add(() => streamBuffers.close());
  const callerWatch = parts.access.callerWatch;
  const streams = createOpenStreams({ clock, callerWatch });
  const signOuts = subscribeToSignOuts({
    ...{ users: parts.primary.users, changes, clock },
    onSignedOut: (principal) => streams.endForPrincipal(principal),
  });
  disposables.add(() => signOuts.stop());
  const clientRequests = createClientRequests({ mailbox, keyring, clock, random });
  const requireSession = createRequireSession({ sessions, states });
  const { acceptsIdJags } = parts;
  const serverInfoParts = { results, info, acceptsIdJags, instructions: createInstructions(servers) };
  const suspendedCalls = createSuspendedCalls({
    ...{ cache, mailbox, clock, random, results, replica },
    toRpcFault: (error, mcpRequest) => toClientFault(error, mcpRequest, parts.problemOf),
  });
  disposables.add(() => suspendedCalls.close());
  const methodParts: MethodParts = {
    ...parts,
    ...{ servers, results, clientRequests, suspendedCalls, elicitations, baseUrl },
    connectLinks: createConnectLinks({
      keyring,
      clock,
      vault: gatewayParts.vault,
      registry: gatewayParts.registry,
    }),
    search: createToolSearch({ yieldToEventLoop: () => new Promise((resolve) => setImmediate(resolve)) }),
    paginate: createPaginate(keyring),
    states: createRequestStates({ keyring, clock }),
    taskIds: createTaskIds({ keyring, clock }),
  };
  const commonMethods: Readonly<Record<string, Method>> = {
    ...toolMethods(methodParts),
    ...promptMethods(methodParts),
    ...resourceMethods(methodParts),
    ...completionMethods(methodParts),
  };
  const subscriptions = createSessionSubscriptions({ lists, changes, clock });
  const replyParts = { clock, headers, streamBuffers, callerWatch, ticker: createSharedTicker(clock) };
  const serve = createServeRequest(parts);
  const legacy = createLegacyHandler({
    ...replyParts,
    methods: new Map(
      Object.entries({
        ...commonMethods,
        ...sessionMethods(states),
        ...subscribeMethods(methodParts, subscriptions),
      }),
    ),
    initialize: createInitialize({ ...serverInfoParts, sessions }),
    ...{ serve, requireSession, clientRequests, mailbox, limits: parts.limits },
  });
  const subscribeLists = createSubscribeLists({ servers, listChanges, clock });
  const subscribeResources = createSubscribeResources({ servers, clock });
  const subscriptionParts = { streams, subscribeLists, subscribeResources };
  const postHandler = createMcpPostHandler({
    ...replyParts,
    ...{ servers, legacy, serve },
    listen: createListen({ ...replyParts, ...subscriptionParts, results }),
    modern: new Map(
      Object.entries({
        ...commonMethods,
        ...taskMethods(methodParts),
        'server/discover': discoverMethod(serverInfoParts),
      }),
    ),
  });
  const streamHandler = createStreamHandler({
    ...replyParts,
    ...subscriptionParts,
    ...{ servers, requireSession, states, sessionStreams, subscriptions },
    subscribeElicitations: createSubscribeElicitations({ servers, elicitations, changes, clock }),
  });
  return {
    routes: mcpRoutes({ post: (...args) => postHandler.post(...args), ...streamHandler }),
    drain: () => streams.drain(),
  };
}
