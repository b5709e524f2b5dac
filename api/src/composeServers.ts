import { explicitPermissions, type Env, type EnvRecord } from '@behalf/contracts';
import { systemDial, systemResolve, type OwnEndpoints } from '@behalf/egress';
import {
  createArgumentValidator,
  createCatalog,
  createConnectionManager,
  createCredentials,
  createInspection,
  createListAll,
  createOpenUpstream,
  createRegistry,
  createRolePermissions,
  createStdioLimits,
  createStoredServers,
  createUserVariables,
  createVariableCache,
  inspectServer,
  openWithoutSession,
  principalKey,
  readVariablesKey,
  seesServer,
  type CallParts,
  type ConnectionManager,
  type ListToolsParts,
  type Log,
  type ReinitParts,
  type StatusParts,
  type UserVariables,
} from '@behalf/gateway';
import type { ChangeFeed, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import type { Closers } from './closers.ts';
import type { Configuration } from './configuration.ts';
import type { Logger } from './logger.ts';
import { createNetwork } from './network.ts';
import { version } from './version.ts';

export interface ComposeServersParts {
  env: Env;
  record: EnvRecord;
  logger: Logger;
  clock: Clock;
  random: Random;
  keyring: Keyring;
  configuration: Configuration;
  primary: PrimaryStore;
  changes: ChangeFeed;
  closers: Closers;
  own: () => OwnEndpoints;
}

/** What the doors need of the servers. */
export interface Servers {
  readonly asking: CallParts & ListToolsParts;
  readonly connections: ConnectionManager;
  readonly reinit: ReinitParts;
  readonly status: StatusParts & { variables: UserVariables };
  /** What was opened or listed with a user's old values is of no use any more. */
  readonly forget: (serverId: string, principal: string) => Promise<void>;
}

/** The second half of the list of parts: what servers there are, how they are reached, what is known of them. */
export async function composeServers(parts: ComposeServersParts): Promise<Servers> {
  const { env, record, logger, clock, random, keyring, configuration, primary, changes, closers, own } =
    parts;
  const door = createNetwork({
    settings: configuration.current(),
    env: record,
    limits: {
      bodyBytes: env.MCP_STREAMABLE_HTTP_MAX_RESPONSE_BYTES,
      sseLineBytes: env.MCP_STREAMABLE_HTTP_MAX_LINE_BYTES,
    },
    resolve: systemResolve,
    dial: systemDial,
    clock,
    keyring,
    own,
  });
  closers.add(() => door.close());
  const log: Log = (event, fields) => logger.info(event, fields);
  const upstreamParts = {
    clock,
    random,
    version,
    network: door.network,
    log,
    onStderr: (server: string, line: string) => logger.debug('A server wrote to stderr', { server, line }),
    kill: (pid: number, signal: NodeJS.Signals) => void process.kill(pid, signal),
  };
  const open = createOpenUpstream({ ...upstreamParts, limits: createStdioLimits() });
  const catalog = createCatalog({ clock, log });
  closers.add(() => catalog.close());
  const connections = createConnectionManager({
    open: async (target, options) => {
      const upstream = await open(target, options);
      // What everybody shares is worth a stream of its own; a user's connection is asked again when it is used.
      if (options.owner === undefined) {
        upstream.listen(
          ({ method }) => {
            if (method === 'notifications/tools/list_changed') catalog.onListChanged(options.server);
          },
          { ...(target.type !== 'stdio' && { headers: target.headers }) },
        );
      }
      return upstream;
    },
    clock,
    random,
    limits: {
      idleMs: env.MCP_USER_CONNECTION_IDLE_TIMEOUT,
      breakerFailures: env.MCP_CB_MAX_FAILED_ROUNDS,
      breakerBaseMs: env.MCP_CB_BASE_BACKOFF_MS,
      breakerMaxMs: env.MCP_CB_MAX_BACKOFF_MS,
    },
  });
  closers.add(() => connections.close());
  const listAll = createListAll({
    clock,
    limits: {
      pages: env.MCP_TOOLS_LIST_MAX_PAGES,
      items: env.MCP_TOOLS_LIST_MAX_TOOLS,
      bytes: env.MCP_TOOLS_LIST_MAX_BYTES,
      totalMs: env.MCP_TOOLS_LIST_TIMEOUT_MS,
    },
  });
  const inspection = createInspection({
    inspect: (server, look) => inspectServer({ connections, catalog, listAll }, server, look),
    clock,
    random,
    log,
  });
  closers.add(() => inspection.close());
  const registry = createRegistry({
    env: record,
    enforced: new Set(['tools', 'sharing']),
    isFailed: (server) => inspection.stateOf(server).kind === 'failed',
    log,
  });
  const variableCache = createVariableCache({ store: primary.variables, keyring, changes, clock });
  closers.add(() => variableCache.close());
  closers.add(
    changes.subscribe(({ topic, id }) => {
      if (topic !== 'variables') return;
      // Entered at another replica: what was listed with the old values is listed anew.
      const owner = readVariablesKey(id);
      if (owner) return catalog.invalidate(owner.serverId, principalKey(owner));
      for (const server of registry.all()) if (server.scope === 'user') catalog.invalidate(server.id);
    }),
  );
  const variables = createUserVariables({ store: primary.variables, keyring, changes, clock });
  const credentials = createCredentials({ variables: variableCache, inheritedEnv: record });
  const permissions = () =>
    createRolePermissions(explicitPermissions(configuration.current().interface.mcpServers));
  let requirePermission = permissions();
  closers.add(
    registry.onChange(() => {
      const servers = registry.all();
      connections.update(servers);
      catalog.update(servers);
      inspection.update(servers);
    }),
  );
  registry.update({ settings: configuration.current(), isBuiltIn: configuration.isBuiltIn() });
  configuration.onChange((settings) => {
    requirePermission = permissions();
    door.update(settings);
    registry.update({ settings, isBuiltIn: configuration.isBuiltIn() });
  });
  const stored = createStoredServers({
    servers: primary.servers,
    variables: primary.variables,
    keyring,
    changes,
    clock,
    random,
    log,
  });
  const following = stored.follow((servers) => registry.update({ stored: servers }));
  closers.add(() => following.stop());
  await following.ready;
  const asking = {
    requirePermission: () => requirePermission,
    sees: seesServer,
    registry,
    credentials,
    connections,
    catalog,
    listAll,
    clock,
    random,
    arguments: createArgumentValidator({ clock, log }),
  };
  return {
    asking,
    connections,
    reinit: {
      ...asking,
      inspection,
      open,
      openWithoutSession: (target, options) => openWithoutSession(target, options, upstreamParts),
    },
    status: { ...asking, inspection, variables },
    async forget(serverId, principal) {
      catalog.invalidate(serverId, principal);
      await connections.dropHolder(serverId, principal);
    },
  };
}
