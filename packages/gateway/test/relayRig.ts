import { systemClock, systemRandom } from '@behalf/kernel';
import { aPrincipal, createTestNetwork, scriptedHttpServer, type ScriptedOptions } from '@behalf/testkit';
import { createConnectionManager } from '../src/connections/connectionManager.ts';
import { type Principal, principalKey } from '../src/principal/principal.ts';
import type { Inbound, InboundPeer } from '../src/toolcall/inbound.ts';
import { callTool } from '../src/toolcall/callTool.ts';
import { createStdioLimits } from '../src/upstream/channel/stdioTransport.ts';
import { createOpenUpstream } from '../src/upstream/openUpstream.ts';
import type { JsonObject } from '../src/upstream/upstream.ts';
import { createServerSubscriptions } from '../src/subscriptions/serverSubscriptions.ts';
import { withoutRenewal } from './bearerRig.ts';
import type { RunningServer } from './mcpServers.ts';
import { defineServer, createToolcallRig, requireServerOutcome } from './toolcallRig.ts';

export const annPrincipal = aPrincipal({ userId: 'u-ann' });
export const bobPrincipal = aPrincipal({ userId: 'u-bob' });

export const tokenFor = ({ userId }: Pick<Principal, 'userId'>) => `token-of-${userId}-0123456789`;

const runningRigs: { close(): Promise<void> }[] = [];

export async function stopRelayRigs(): Promise<void> {
  for (const rig of runningRigs.splice(0).reverse()) await rig.close();
}

export interface RelayOptions {
  readonly definition?: JsonObject;
  /** Each user brings a token of their own, over a connection of their own. */
  readonly isUserScoped?: boolean;
}

/** The walk of a call over real connections to one scripted server, with a caller who can be asked. */
export async function createRelayRig(script: ScriptedOptions, options: RelayOptions = {}) {
  return createRelayTo(await scriptedHttpServer(script), options);
}

/** The same with a server that runs already; it ends with the others. */
export function createRelayTo<S extends RunningServer>(
  server: S,
  { definition = {}, isUserScoped = false }: RelayOptions = {},
) {
  runningRigs.push(server);
  const network = createTestNetwork([server.port]);
  runningRigs.push(network);
  const open = createOpenUpstream({
    ...{ clock: systemClock, random: systemRandom, version: '0.0.0-test', network },
    ...{ log: () => undefined, onStderr: () => undefined, kill: () => undefined },
    limits: createStdioLimits(),
  });
  const connections = createConnectionManager({ open, clock: systemClock, random: systemRandom });
  runningRigs.push(connections);
  const userHeaders = isUserScoped ? { headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' } } : {};
  const definedServer = defineServer('odd', { url: server.url, ...userHeaders, ...definition });
  const rig = createToolcallRig([definedServer]);
  rig.tools = undefined;
  const serverSubscriptions = createServerSubscriptions({ clock: systemClock, random: systemRandom });
  runningRigs.push({ close: async () => serverSubscriptions.close() });
  connections.onConnectionsDropped((principal, serverId) => serverSubscriptions.renew(principal, serverId));
  const parts = {
    ...rig.parts,
    connections,
    serverSubscriptions,
    credentials: {
      async obtain(_server: unknown, principal: Principal) {
        const bearer = {
          token: () => tokenFor(principal),
          ...withoutRenewal,
          presentedTokens: () => [tokenFor(principal)],
        };
        const target = {
          type: 'streamable-http' as const,
          url: server.url,
          headers: {},
          audience: 'yaml-server' as const,
          proxy: undefined,
          sseReadTimeoutMs: 300_000,
          bearer,
        };
        return { target, binding: principalKey(principal) };
      },
    },
  };
  const inbound = (overrides: Partial<Inbound> = {}) =>
    rig.inbound({ principal: annPrincipal, door: 'mcp', ...overrides });
  return {
    ...{ server, rig, parts, inbound, connections, definedServer, serverSubscriptions },
    call: (tool: string, overrides: Partial<Inbound> = {}, args: JsonObject = {}) =>
      callTool(parts, { server: 'odd', tool, args }, inbound(overrides)).then(requireServerOutcome),
  };
}

/** What was asked of a peer, which gives the same answer every time. */
export function createRecordingPeer(
  reply: JsonObject | ((method: string, params: JsonObject) => JsonObject | Promise<JsonObject>),
  overrides: Partial<InboundPeer> = {},
) {
  const requests: { method: string; params: JsonObject }[] = [];
  const peer: InboundPeer = {
    era: 'legacy',
    capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    async sendRequest(method, params) {
      requests.push({ method, params });
      return typeof reply === 'function' ? reply(method, params) : reply;
    },
    ...overrides,
  };
  return { peer, requests };
}
