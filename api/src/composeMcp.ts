import {
  createToolSearch,
  subscribeToSignOuts,
  type EndpointParts,
  type SubscribeParts,
} from '@behalf/gateway';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import type { Closers } from './closers.ts';
import type { Access } from './composeAccess.ts';
import type { Servers } from './composeServers.ts';
import type { RateLimits } from './door/rateLimits.ts';
import { apiHeaders } from './door/securityHeaders.ts';
import type { Route } from './http.ts';
import type { Method } from './mcp/asked.ts';
import { createTakePage } from './mcp/cursors.ts';
import { createMcpDoor } from './mcp/door.ts';
import { createInitialize } from './mcp/initialize.ts';
import { createInstructions } from './mcp/instructions.ts';
import { createLegacyDoor } from './mcp/legacyDoor.ts';
import { createConnectLinks } from './oauth/connectLinks.ts';
import { completionMethods } from './mcp/methods/completion.ts';
import { createListen } from './mcp/methods/listen.ts';
import type { MethodParts } from './mcp/methods/methodParts.ts';
import { discoverMethod } from './mcp/methods/opening.ts';
import { promptMethods } from './mcp/methods/prompts.ts';
import { resourceMethods, subscribeMethods } from './mcp/methods/resources.ts';
import { sessionMethods } from './mcp/methods/sessionMethods.ts';
import { taskMethods } from './mcp/methods/tasks.ts';
import { toolMethods } from './mcp/methods/tools.ts';
import { createParking } from './mcp/parking/parking.ts';
import { createRequestStates } from './mcp/requestState.ts';
import { createResultJson, type ServerInfo } from './mcp/resultJson.ts';
import { mcpRoutes } from './mcp/routes.ts';
import { createTaskIds } from './mcp/taskIds.ts';
import { createServeRequest, toFault, type ServeParts } from './mcp/serveRequest.ts';
import { createAsking } from './mcp/session/asking.ts';
import { createElicitations } from './mcp/session/elicitations.ts';
import { createMailbox } from './mcp/session/mailbox.ts';
import { createRequireSession } from './mcp/session/requireSession.ts';
import { createMcpSessions } from './mcp/session/sessions.ts';
import { createSharedLists } from './mcp/session/sharedLists.ts';
import { createSessionStreams } from './mcp/session/sessionStreams.ts';
import { createSessionStates } from './mcp/session/sessionStates.ts';
import { createSubscriptions } from './mcp/session/subscriptions.ts';
import { createEventIds } from './mcp/stream/eventIds.ts';
import { createFollowElicitations } from './mcp/stream/followElicitations.ts';
import { createFollowLists } from './mcp/stream/followLists.ts';
import { createFollowResources } from './mcp/stream/followResources.ts';
import { createOpenStreams } from './mcp/stream/openStreams.ts';
import { createReplays } from './mcp/stream/replays.ts';
import { createVigil } from './mcp/stream/vigil.ts';
import { createStreamDoor } from './mcp/streamDoor.ts';
import type { ObservingParts } from './rest/mcp/observing.ts';
import { version } from './version.ts';

export interface ComposeMcpParts extends ObservingParts, ServeParts {
  clock: Clock;
  random: Random;
  keyring: Keyring;
  primary: Pick<PrimaryStore, 'users'>;
  access: Pick<Access, 'callerWatch'>;
  coordination: CoordinationStore;
  closers: Closers;
  limits: Pick<RateLimits, 'take'>;
  headers: Readonly<Record<string, string>>;
  requestIds: () => string;
  base: () => string;
  /** Whether clients may come with a token that an identity provider arranged, without their user. */
  takesIdJags: boolean;
  servers: Pick<Servers, 'asking' | 'listings' | 'listFeeds' | 'news' | 'serverKeys' | 'naming'>;
}

/** The door for every MCP client. */
export interface McpEndpoint {
  readonly routes: readonly Route[];
  drain(): void;
}

export function composeMcp(parts: ComposeMcpParts): McpEndpoint {
  const { clock, random, keyring, coordination, closers, base } = parts;
  const { changes } = coordination;
  const cache = coordination.cache('mcp');
  const { asking: gateway, listings, listFeeds, news, serverKeys, naming } = parts.servers;
  const servers: EndpointParts & SubscribeParts = {
    ...gateway,
    itemLists: listings,
    listSubscriptions: listFeeds,
    serverKeys,
    naming,
  };
  const headers = Object.entries(apiHeaders(parts.headers)).flat();
  const info: ServerInfo = { name: 'behalf', title: 'Behalf', version };
  const results = createResultJson(info);
  const sessions = createMcpSessions({ keyring, clock, random });
  const states = createSessionStates({ cache, changes, clock });
  closers.add(() => states.close());
  const sessionStreams = createSessionStreams({ cache, changes, states, clock, random });
  closers.add(() => sessionStreams.close());
  const mailbox = createMailbox({ cache, changes, keyring, clock });
  closers.add(() => mailbox.close());
  const lists = createSharedLists({ cache, clock, leases: coordination.leases });
  const elicitations = createElicitations({ lists, changes, clock });
  const replica = random.id();
  const replays = createReplays({
    ...{ clock, random, keyring, mailbox, cache, changes, lists, replica },
    eventIds: createEventIds(keyring),
  });
  closers.add(() => replays.close());
  const callers = parts.access.callerWatch;
  const streams = createOpenStreams({ clock, callers });
  const signOuts = subscribeToSignOuts({
    ...{ users: parts.primary.users, changes, clock },
    onSignedOut: (principal) => streams.endOf(principal),
  });
  closers.add(() => signOuts.stop());
  const asking = createAsking({ mailbox, keyring, clock, random });
  const requireSession = createRequireSession({ sessions, states });
  const { takesIdJags } = parts;
  const opening = { results, info, takesIdJags, instructions: createInstructions(servers) };
  const parking = createParking({
    ...{ cache, mailbox, clock, random, results, replica },
    faultOf: (error, asked) => toFault(error, asked, parts.problemOf),
  });
  closers.add(() => parking.close());
  const methodParts: MethodParts = {
    ...parts,
    ...{ servers, results, asking, parking, elicitations, base },
    links: createConnectLinks({ keyring, clock, vault: gateway.vault, registry: gateway.registry }),
    search: createToolSearch({ giveWay: () => new Promise((resolve) => setImmediate(resolve)) }),
    takePage: createTakePage(keyring),
    states: createRequestStates({ keyring, clock }),
    taskIds: createTaskIds({ keyring, clock }),
  };
  const both: Readonly<Record<string, Method>> = {
    ...toolMethods(methodParts),
    ...promptMethods(methodParts),
    ...resourceMethods(methodParts),
    ...completionMethods(methodParts),
  };
  const subscriptions = createSubscriptions({ lists, changes, clock });
  const replying = { clock, headers, replays, callers, vigil: createVigil(clock) };
  const serve = createServeRequest(parts);
  const legacy = createLegacyDoor({
    ...replying,
    methods: new Map(
      Object.entries({
        ...both,
        ...sessionMethods(states),
        ...subscribeMethods(methodParts, subscriptions),
      }),
    ),
    initialize: createInitialize({ ...opening, sessions }),
    ...{ serve, requireSession, asking, mailbox, limits: parts.limits },
  });
  const followLists = createFollowLists({ servers, news, clock });
  const followResources = createFollowResources({ servers, clock });
  const following = { streams, followLists, followResources };
  const door = createMcpDoor({
    ...replying,
    ...{ servers, legacy, serve },
    listen: createListen({ ...replying, ...following, results }),
    modern: new Map(
      Object.entries({ ...both, ...taskMethods(methodParts), 'server/discover': discoverMethod(opening) }),
    ),
  });
  const streaming = createStreamDoor({
    ...replying,
    ...following,
    ...{ servers, requireSession, states, sessionStreams, subscriptions },
    followElicitations: createFollowElicitations({ servers, elicitations, changes, clock }),
  });
  return {
    routes: mcpRoutes({ post: (...given) => door.post(...given), ...streaming }),
    drain: () => streams.drain(),
  };
}
