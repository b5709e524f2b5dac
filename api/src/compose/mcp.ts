import {
  type EndpointParts,
  type SubscribeParts,
  createToolSearch,
  subscribeToSignOuts,
} from '@behalf/gateway';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import type { RateLimits } from '../http/limits.ts';
import type { Route } from '../http/route.ts';
import { apiHeaders } from '../http/securityHeaders.ts';
import { mcpRoutes } from '../routes/mcp/endpoint.ts';
import { createInitialize, createInstructions, discoverMethod } from '../routes/mcp/methods/discover.ts';
import { createPaginate } from '../routes/mcp/methods/listResult.ts';
import { createListen } from '../routes/mcp/methods/listen.ts';
import { resourceMethods } from '../routes/mcp/methods/resources.ts';
import type { MethodParts } from '../routes/mcp/methods/serverCallRunner.ts';
import { sessionMethods } from '../routes/mcp/methods/sessionMethods.ts';
import { createTaskIds, taskMethods } from '../routes/mcp/methods/tasks.ts';
import { toolMethods } from '../routes/mcp/methods/tools.ts';
import { createMcpPostHandler } from '../routes/mcp/postHandler.ts';
import { createMailbox } from '../routes/mcp/relay/mailbox.ts';
import { createSharedLists } from '../routes/mcp/relay/sharedLists.ts';
import {
  type Method,
  type ServeRequestParts,
  createServeRequest,
  toClientFault,
} from '../routes/mcp/request.ts';
import { createRequestStates } from '../routes/mcp/requestState.ts';
import { type ServerInfo, createResultJson } from '../routes/mcp/results.ts';
import { createClientRequests } from '../routes/mcp/session/clientRequests.ts';
import {
  createMcpSessions,
  createRequireSession,
  createSessionStates,
} from '../routes/mcp/session/sessions.ts';
import { createElicitations, createSessionSubscriptions } from '../routes/mcp/session/sessionLists.ts';
import { createSubscribeElicitations } from '../routes/mcp/signIn.ts';
import { createOpenStreams, createSessionStreams } from '../routes/mcp/stream/openStreams.ts';
import { createSharedTicker } from '../routes/mcp/stream/reply.ts';
import { createStreamBuffers } from '../routes/mcp/stream/streamBuffer.ts';
import { createStreamHandler } from '../routes/mcp/stream/streamHandler.ts';
import { createEventIds } from '../routes/mcp/stream/streamRelay.ts';
import { createSubscribeLists, createSubscribeResources } from '../routes/mcp/stream/subscriptions.ts';
import { createSuspendedCalls } from '../routes/mcp/suspendedCalls/suspendedCalls.ts';
import { createConnectLinks } from '../routes/oauth/connect.ts';
import type { ObserveRequestParts } from '../routes/ops/observeRequest.ts';
import type { Disposables } from '../runtime/lifecycle.ts';
import { version } from '../runtime/version.ts';
import type { ComposedAccess } from './access.ts';
import type { Servers } from './servers.ts';

interface ComposeMcpParts extends ObserveRequestParts, ServeRequestParts {
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
interface ComposedMcp {
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
    ...resourceMethods(methodParts),
  };
  const subscriptions = createSessionSubscriptions({ lists, changes, clock });
  const replyParts = { clock, headers, streamBuffers, callerWatch, ticker: createSharedTicker(clock) };
  const serve = createServeRequest(parts);
  const subscribeLists = createSubscribeLists({ servers, listChanges, clock });
  const subscribeResources = createSubscribeResources({ servers, clock });
  const subscriptionParts = { streams, subscribeLists, subscribeResources };
  const post = createMcpPostHandler({
    ...replyParts,
    ...{ servers, serve, requireSession, clientRequests, mailbox, limits: parts.limits },
    initialize: createInitialize({ ...serverInfoParts, sessions }),
    listen: createListen({ ...replyParts, ...subscriptionParts, results }),
    legacyMethods: new Map(
      Object.entries({ ...commonMethods, ...sessionMethods(methodParts, states, subscriptions) }),
    ),
    modernMethods: new Map(
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
    routes: mcpRoutes({ post, ...streamHandler }),
    drain: () => streams.drain(),
  };
}
