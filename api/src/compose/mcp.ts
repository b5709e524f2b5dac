import { createToolSearch, subscribeToSignOuts } from '@behalf/gateway';
import type { ObserveRequestParts } from '../http/inbound.ts';
import type { RateLimits } from '../http/limits.ts';
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
import { version } from '../runtime/version.ts';
import type { ComposedAccess } from './access.ts';
import type { ComposeContext } from './context.ts';
import type { Servers } from './servers.ts';

interface McpParts extends ObserveRequestParts, ServeRequestParts {
  readonly access: Pick<ComposedAccess, 'callerWatch'>;
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly headers: Readonly<Record<string, string>>;
  readonly requestIds: () => string;
  /** Whether clients can use tokens that an identity provider arranged (ID-JAG). */
  readonly acceptsIdJags: boolean;
  readonly servers: Servers;
}

/** The MCP endpoints: sessions and streams of the legacy era, requests of the modern era, and the methods of both. */
export function composeMcp(context: ComposeContext, parts: McpParts) {
  const { clock, random, keyring, primary, coordination, disposables, address } = context;
  const { acceptsIdJags } = parts;
  const { callerWatch } = parts.access;
  const { changes } = coordination;
  const cache = coordination.cache('mcp');
  const { callParts, itemLists, listSubscriptions, listChanges, serverKeys, naming } = parts.servers;
  const servers = { ...callParts, itemLists, listSubscriptions, serverKeys, naming };
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
  const streams = createOpenStreams({ clock, callerWatch });
  const signOuts = subscribeToSignOuts({
    ...{ users: primary.users, changes, clock },
    onSignedOut: (principal) => streams.endForPrincipal(principal),
  });
  disposables.add(() => signOuts.stop());
  const clientRequests = createClientRequests({ mailbox, keyring, clock, random });
  const requireSession = createRequireSession({ sessions, states });
  const serverInfoParts = { results, info, acceptsIdJags, instructions: createInstructions(servers) };
  const suspendedCalls = createSuspendedCalls({
    ...{ cache, mailbox, clock, random, results, replica },
    toRpcFault: (error, mcpRequest) => toClientFault(error, mcpRequest, parts.problemOf),
  });
  disposables.add(() => suspendedCalls.close());
  const methodParts: MethodParts = {
    ...{ ...parts, clock, random },
    ...{ servers, results, clientRequests, suspendedCalls, elicitations, baseUrl: address.baseUrl },
    connectLinks: createConnectLinks({ ...callParts, keyring, clock }),
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
