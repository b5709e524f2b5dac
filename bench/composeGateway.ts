import { EgressError, getEgressErrorCode } from '@behalf/egress';
import {
  createArgumentValidator,
  createCatalog,
  createConnectionManager,
  createCredentials,
  createListAll,
  createOpenUpstream,
  createRegistry,
  createStdioLimits,
  createToolPolicy,
  type CallParts,
  type Network,
  type UserPrincipal,
} from '@behalf/gateway';
import { systemClock, systemRandom } from '@behalf/kernel';
import { loadSettings } from '@behalf/settings';
import { createBenchEgress } from './egress.ts';

export interface GatewayShape {
  port: number;
  era: 'legacy' | 'modern';
  /** The number of servers. */
  servers: number;
  /** `user`: a header contains the user ID, so each user has a connection. */
  scope: 'app' | 'user';
}

export interface ComposedGateway {
  readonly parts: CallParts;
  readonly names: readonly string[];
  close(): Promise<void>;
}

/** The real components of the gateway in this process, from an authenticated caller to the upstream. */
export function composeGateway({ port, era, servers, scope }: GatewayShape): ComposedGateway {
  const clock = systemClock;
  const random = systemRandom;
  const log = () => undefined;
  /** No server here uses a user token. */
  const rejectTokens = (): never => {
    throw new Error('No server has tokens');
  };
  const egress = createBenchEgress(port);
  const names = Array.from({ length: servers }, (_, i) => `s${i}`);
  const headers = scope === 'user' ? { 'x-user-key': 'key-{{LIBRECHAT_USER_ID}}' } : {};
  const definition = (name: string) => ({
    type: 'streamable-http',
    url: `http://127.0.0.1:${port}/${era}/${name}`,
    headers,
  });
  const loadResult = loadSettings(
    JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, definition(name)])) }),
    { env: {} },
  );
  if (!loadResult.ok) throw new Error(JSON.stringify(loadResult.diagnostics));

  const networkOptions = { audience: 'yaml-server', limits: { bodyBytes: 16 * 1024 * 1024 } } as const;
  const send = egress.sendFor(networkOptions);
  const fetch = egress.fetchFor(networkOptions);
  const network: Network = {
    sendTo: () => send,
    fetchTo: () => fetch,
    connectTo: (target, signal) => egress.connect(target.url, networkOptions, signal),
    readError: (error) =>
      error instanceof EgressError
        ? { code: getEgressErrorCode(error), requestSent: error.requestSent }
        : undefined,
  };
  const open = createOpenUpstream({
    clock,
    random,
    version: '0.0.0',
    network,
    log,
    onStderr: log,
    kill: log,
    limits: createStdioLimits(),
  });
  const catalog = createCatalog({ clock, log });
  const connections = createConnectionManager({ open, clock, random });
  const registry = createRegistry({
    ...{ env: {}, enforcedRestrictions: new Set(['tools'] as const), hasFailedInspection: () => false, log },
    appBearer: rejectTokens,
  });
  registry.update({ settings: loadResult.settings, isBuiltIn: false, definitions: {}, overrides: [] });
  connections.update(registry.listAll());
  catalog.update(registry.listAll());
  const policy = createToolPolicy(undefined);
  // Over REST, permissions are checked in memory.
  const requirePermission = log;
  // No server here uses user variables.
  const variables = { read: () => ({ values: {} }), close: log };
  return {
    names,
    parts: {
      requirePermission: () => requirePermission,
      canSee: () => true,
      registry,
      credentials: createCredentials({
        variables,
        obo: { bearerFor: rejectTokens },
        oauth: { obtain: () => null },
        graphScopes: '',
        inheritedEnv: {},
      }),
      appTokens: { bearerFor: log, connectionBearer: rejectTokens },
      vault: { withExclusiveUse: (_key, _signal, work) => work() },
      connections,
      catalog,
      listAll: createListAll({ clock }),
      random,
      oboTrust: { isTrusted: () => true },
      policy: () => policy,
      // No tool here requires approval.
      approvals: { consume: async () => false, request: () => Promise.reject(new Error('Nothing asks')) },
      clock,
      // The cost of writing the audit log is measured over REST.
      audit: { record: async () => undefined, note: log, reserve: () => true },
      arguments: createArgumentValidator({ log, clock }),
    },
    async close() {
      await connections.close();
      catalog.close();
      await egress.close();
    },
  };
}

export function createBenchPrincipal(i: number): UserPrincipal {
  return {
    kind: 'user',
    userId: `u${i}`,
    tenant: 'default',
    role: 'USER',
    email: `u${i}@example.com`,
    name: `User ${i}`,
    issuer: 'local',
    groups: [],
    authentication: { via: 'session', session: `s${i}` },
  };
}
