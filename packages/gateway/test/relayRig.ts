import { systemClock, systemRandom } from '@behalf/kernel';
import { aPrincipal, createTestNetwork, scriptedHttpServer, type ScriptedOptions } from '@behalf/testkit';
import { createConnectionManager } from '../src/connections/connectionManager.ts';
import type { Principal } from '../src/principal/principal.ts';
import { principalKey } from '../src/principal/principal.ts';
import type { Inbound, InboundPeer } from '../src/toolcall/inbound.ts';
import { callTool } from '../src/toolcall/callTool.ts';
import { createStdioLimits } from '../src/upstream/channel/stdioLimits.ts';
import { createOpenUpstream } from '../src/upstream/openUpstream.ts';
import type { JsonObject } from '../src/upstream/upstream.ts';
import { createServerSubscriptions } from '../src/subscriptions/serverSubscriptions.ts';
import { neverRenewed } from './bearerRig.ts';
import type { RunningServer } from './mcpServers.ts';
import { define, toolcallRig } from './toolcallRig.ts';

export const ann = aPrincipal({ userId: 'u-ann' });
export const bob = aPrincipal({ userId: 'u-bob' });

export const tokenOf = ({ userId }: Pick<Principal, 'userId'>) => `token-of-${userId}-0123456789`;

const running: { close(): Promise<void> }[] = [];

export async function stopRelayRigs(): Promise<void> {
  for (const each of running.splice(0).reverse()) await each.close();
}

export interface RelayOptions {
  readonly definition?: JsonObject;
  /** Each user brings a token of their own, over a connection of their own. */
  readonly own?: boolean;
}

/** The walk of a call over real connections to one scripted server, with a caller who can be asked. */
export async function relayRig(script: ScriptedOptions, options: RelayOptions = {}) {
  return relayTo(await scriptedHttpServer(script), options);
}

/** The same with a server that runs already; it ends with the others. */
export function relayTo<S extends RunningServer>(
  server: S,
  { definition = {}, own = false }: RelayOptions = {},
) {
  running.push(server);
  const network = createTestNetwork([server.port]);
  running.push(network);
  const open = createOpenUpstream({
    ...{ clock: systemClock, random: systemRandom, version: '0.0.0-test', network },
    ...{ log: () => undefined, onStderr: () => undefined, kill: () => undefined },
    limits: createStdioLimits(),
  });
  const connections = createConnectionManager({ open, clock: systemClock, random: systemRandom });
  running.push(connections);
  const scoped = own ? { headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' } } : {};
  const defined = define('odd', { url: server.url, ...scoped, ...definition });
  const rig = toolcallRig([defined]);
  rig.tools = undefined;
  const watches = createServerSubscriptions({ clock: systemClock, random: systemRandom });
  running.push({ close: async () => watches.close() });
  connections.onConnectionsDropped((principal, serverId) => watches.renew(principal, serverId));
  const parts = {
    ...rig.parts,
    connections,
    watches,
    credentials: {
      async obtain(_server: unknown, principal: Principal) {
        const bearer = {
          token: () => tokenOf(principal),
          ...neverRenewed,
          shown: () => [tokenOf(principal)],
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
  const inbound = (more: Partial<Inbound> = {}) => rig.inbound({ principal: ann, door: 'mcp', ...more });
  return {
    ...{ server, rig, parts, inbound, connections, defined, watches },
    call: (tool: string, more: Partial<Inbound> = {}, args: JsonObject = {}) =>
      callTool(parts, { server: 'odd', tool, args }, inbound(more)),
  };
}

/** What was asked of a peer, which gives the same answer every time. */
export function askedPeer(
  answer: JsonObject | ((method: string, params: JsonObject) => JsonObject | Promise<JsonObject>),
  over: Partial<InboundPeer> = {},
) {
  const asked: { method: string; params: JsonObject }[] = [];
  const peer: InboundPeer = {
    era: 'legacy',
    capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    async sendRequest(method, params) {
      asked.push({ method, params });
      return typeof answer === 'function' ? answer(method, params) : answer;
    },
    ...over,
  };
  return { peer, asked };
}
