import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import type { Env, EnvRecord } from '@behalf/contracts';
import { systemLocalAddresses, systemResolve } from '@behalf/egress';
import { type Principal, isStoreKeyValid } from '@behalf/gateway';
import { type Clock, type Dial, type Random, createKeyring } from '@behalf/kernel';
import { loadKeys, openCoordination, openPrimary } from '@behalf/stores/open';
import { createAdmission, createCallerResolver } from '../http/authentication.ts';
import { createSessionCookie } from '../http/cookies.ts';
import { createProblemMap } from '../http/errors.ts';
import { createInFlightLimiter, createRateLimits } from '../http/limits.ts';
import { createOrigins } from '../http/origins.ts';
import { createClientAddressReader } from '../http/request.ts';
import { createEndpointResources } from '../http/resourceServer.ts';
import type { Route } from '../http/route.ts';
import { securityHeaders } from '../http/securityHeaders.ts';
import { createApp, createCorsListener } from '../http/server.ts';
import type { WebFiles } from '../http/staticFiles.ts';
import { auditRoutes } from '../routes/admin/audit.ts';
import { configRoute, reloadRoute } from '../routes/admin/configuration.ts';
import { connectionsRoute } from '../routes/admin/connections.ts';
import { diagnoseUserRoute } from '../routes/admin/credentials.ts';
import { adminRoleRoutes, roleRoutes } from '../routes/admin/roles.ts';
import { adminServerRoutes } from '../routes/admin/servers.ts';
import { adminSessionRoutes, adminUserRoutes } from '../routes/admin/users.ts';
import { createClientFetchLimit } from '../routes/authorization-server/limits.ts';
import { openIdRoutes } from '../routes/oauth/openId.ts';
import { createCallHistory, statsRoute } from '../routes/ops/callHistory.ts';
import { createExchangeStats, createRefreshStats, createSignInStats } from '../routes/ops/counters.ts';
import { createReadiness, healthRoute, readyRoute } from '../routes/ops/health.ts';
import { createMetrics, metricsRoute, serverLabel } from '../routes/ops/metrics.ts';
import { webRoutes } from '../routes/pages/interface.ts';
import { pageRoutes } from '../routes/pages/setupPage.ts';
import { approvalRoutes } from '../routes/rest/approvals.ts';
import { loginRoute, logoutRoute, setupRoute } from '../routes/rest/auth.ts';
import { blockRoutes } from '../routes/rest/blocks.ts';
import { diagnoseRoute, reinitializeRoute, statusRoutes } from '../routes/rest/connection.ts';
import { permissionRoutes } from '../routes/rest/permissions.ts';
import { listRoutes, readRoutes } from '../routes/rest/resources.ts';
import { createRequestIds, createServerResponder } from '../routes/rest/serverResponder.ts';
import { discoverToolsRoute, serverRoutes } from '../routes/rest/servers.ts';
import { callToolRoute, serverToolsRoute, toolsRoute } from '../routes/rest/tools.ts';
import { keyRoutes, ownSessionRoutes, userRoute } from '../routes/rest/user.ts';
import { variableRoutes } from '../routes/rest/userVariables.ts';
import { createConfiguration, findCaFile } from '../runtime/configuration.ts';
import {
  type Disposables,
  EXIT_CONFIG,
  EXIT_TRY_LATER,
  StartError,
  createDisposables,
  createGatewayPresence,
  runConfigurationStep,
  runStoreStep,
  storeTargets,
} from '../runtime/lifecycle.ts';
import { type Logger, createEventLog } from '../runtime/logger.ts';
import { createNetwork } from '../runtime/network.ts';
import { version } from '../runtime/version.ts';
import { composeAccess, composeResource } from './access.ts';
import { composeBlocks, composeSets } from './blocks.ts';
import { composeChat } from './chat.ts';
import { composeMcp } from './mcp.ts';
import { oauthRoutes } from './oauth.ts';
import { composeServers } from './servers.ts';
import { composeVault } from './vault.ts';

/** The running parts, as main and tests hold them. */
export interface GatewayServer {
  readonly listener: RequestListener;
  /** Every door, with who may enter. */
  readonly routes: readonly Route[];
  /** Told once the port is known, because links and own-origin checks depend on it. Gives the address for people. */
  onListening(port: number): string;
  /** The address of a form for the first administrator, or null when there is nothing to set up here. */
  createSetupLink(): Promise<string | null>;
  reload(): void;
  /** Whether a token is being renewed: what its answer brings is worth waiting for. */
  isRefreshing(): boolean;
  /** From now on `/ready` says no; what is in flight goes on. */
  drain(): void;
  /** Idempotent; closes everything that was opened. */
  close(): Promise<void>;
}

export interface ComposeParts {
  env: Env;
  record: EnvRecord;
  /** LibreChat's variables that are set and that the gateway itself does not read. */
  ignored: readonly string[];
  logger: Logger;
  clock: Clock;
  random: Random;
  /** Opens what the door out has judged. */
  dial: Dial;
  /** The built interface; null: the API alone. */
  web: WebFiles | null;
  /** Values that must not appear in the log from now on. */
  addSecrets: (secrets: readonly string[]) => void;
  /** Somebody moves the store: whatever is written now would be lost. End at once. */
  onEvicted: () => void;
}

/** The only place that constructs. What a failed start had opened is closed again. */
export async function compose(parts: ComposeParts): Promise<GatewayServer> {
  const disposables = createDisposables((error) =>
    parts.logger.warn('A component failed to close', { error }),
  );
  try {
    return await construct(parts, disposables);
  } catch (error) {
    await disposables.disposeAll();
    throw error;
  }
}

/** Reads from top to bottom as the list of parts. */
async function construct(parts: ComposeParts, disposables: Disposables): Promise<GatewayServer> {
  const { env, record, ignored, logger, clock, random, dial, web, addSecrets, onEvicted } = parts;
  // Configuration first: a mistake in it is reported before anything is opened or created.
  const configuration = runConfigurationStep(() => createConfiguration({ env, record, logger }));
  const configuredSecrets = () => configuration.variables().flatMap((name) => record[name] ?? []);
  addSecrets(configuredSecrets());
  const unusedVariables = ignored.filter((name) => !configuration.variables().includes(name));
  if (unusedVariables.length > 0)
    logger.warn('LibreChat variables without effect in Behalf', { variables: unusedVariables });

  const keys = runConfigurationStep(() =>
    loadKeys({ configured: env.CREDS_KEY, dataDir: env.BEHALF_DATA_DIR, random }),
  );
  const keyring = createKeyring(keys, random);
  const targets = runConfigurationStep(() => storeTargets(env, (file) => readFileSync(file, 'utf8')));
  const primary = await runStoreStep(targets, () => openPrimary(targets, { clock, random }));
  disposables.add(() => primary.close());
  const coordination = await runStoreStep(targets, () =>
    openCoordination(targets, primary, { clock, random }),
  );
  disposables.add(() => coordination.close());
  if (!(await runStoreStep(targets, () => isStoreKeyValid(primary.system, keyring)))) {
    throw new StartError(
      'CREDS_KEY is not the key this store was sealed with. Set the key the other replicas use, or restore it from a backup.',
      EXIT_CONFIG,
    );
  }

  let isDraining = false;
  let isEvicted = false;
  const presence = createGatewayPresence({
    system: primary.system,
    clock,
    random,
    onEvicted: () => {
      isEvicted = true;
      onEvicted();
    },
  });
  if (!(await presence.begin())) {
    throw new StartError(
      'The store is in maintenance (a copy), or holds an unfinished copy. Start again when that is done.',
      EXIT_TRY_LATER,
    );
  }
  disposables.add(() => presence.end());

  const { changes } = coordination;
  const log = createEventLog(logger);
  let origins = createOrigins(env, env.PORT);
  let listenAddresses: { address: string; port: number }[] = [];
  const egress = createNetwork({
    settings: configuration.current(),
    env: record,
    limits: {
      bodyBytes: env.MCP_STREAMABLE_HTTP_MAX_RESPONSE_BYTES,
      sseLineBytes: env.MCP_STREAMABLE_HTTP_MAX_LINE_BYTES,
    },
    identityOrigins: env.OPENID_ISSUER === undefined ? [] : [env.OPENID_ISSUER],
    resolve: systemResolve,
    ...{ dial, clock, keyring },
    ownEndpoints: () => ({
      origins: [origins.baseUrl],
      listeners: listenAddresses,
      localAddresses: systemLocalAddresses,
    }),
  });
  disposables.add(() => egress.close());
  const common = { env, clock, random, keyring, log, configuration, primary, coordination, disposables };
  const refreshes = createRefreshStats();
  const vault = composeVault({ ...common, egress, refreshes });
  const endpoints = createEndpointResources({ baseUrl: () => origins.baseUrl });
  const access = await composeAccess({
    ...common,
    ...vault,
    identity: egress.identity,
    identityTo: (issuer) => egress.identityTo({ caFile: findCaFile(configuration.current(), issuer) }),
    documents: egress.documents,
    fetchLimit: createClientFetchLimit(clock, createClientAddressReader(env.TRUST_PROXY)),
    baseUrl: () => origins.baseUrl,
    isEndpoint: endpoints.isEndpoint,
  });
  const { audit, accounts, sessions, setup, signIn, roles, acl, openId, authorizationServer } = access;
  const exchanges = createExchangeStats();
  const servers = await composeServers({
    ...common,
    record,
    logger,
    egress,
    access,
    vault,
    exchanges,
    baseUrl: () => origins.baseUrl,
  });
  const { callParts, connections } = servers;
  configuration.onChange(() => addSecrets(configuredSecrets()));
  const reload = (requestedBy: string) => {
    const outcome = configuration.reload();
    if (outcome.ok) logger.info('Configuration reloaded', { requestedBy });
    else
      logger.error(`Configuration not reloaded; the current configuration stays active. ${outcome.message}`, {
        requestedBy,
      });
    return outcome;
  };
  const replicaId = random.id();
  disposables.add(
    changes.subscribe(({ topic, id }) => {
      // Our own notice comes back to us; a widened one may be anybody's, and reading an unchanged file changes nothing.
      if (topic === 'settings' && id !== replicaId) reload('another replica');
    }),
  );

  let cookie = createSessionCookie(origins);
  if (origins.onlyLoopbackCanSignIn) {
    logger.warn(
      'PUBLIC_URL is not set: browsers can sign in at localhost only. Set it to the address that users open.',
    );
  }
  const readiness = createReadiness({ version, primary, coordination, clock, isDraining: () => isDraining });
  const offersOpenId = openId?.browser != null;
  const browserParts = { sessions, cookie: () => cookie, logger, audit, offersOpenId };
  const history = createCallHistory({ clock });
  const signInStats = createSignInStats();
  const statistics = { exchanges, refreshes, signInStats, history };
  const metrics = createMetrics({ connections: () => connections.counts(), ...statistics, version });
  const problemOf = createProblemMap({ random, logger });
  const limits = createRateLimits({
    clock,
    perMinute: { calls: env.RATE_LIMIT_CALLS, writes: env.RATE_LIMIT_WRITES },
  });
  const clientAddressOf = createClientAddressReader(env.TRUST_PROXY);
  const resourceServer = composeResource({
    env,
    authorizationServer,
    endpoints,
    baseUrl: () => origins.baseUrl,
  });
  const resolveCaller = createCallerResolver({
    ...access.callerCaches,
    checkToken: resourceServer.check,
    ...{ cookie: () => cookie, limits, clientAddressOf },
  });
  const admission = createAdmission({
    resolveCaller,
    limits,
    origins: () => origins,
    cookie: () => cookie,
    rejectsWrites: () => isEvicted,
  });
  const headers = securityHeaders({ https: origins.secure });
  const requestParts = {
    ...{ metrics, clock, logger, headers, problemOf, inFlight: createInFlightLimiter() },
    requestIds: createRequestIds(random),
    labelOf: (caller: Principal, name: string) => serverLabel(callParts.registry.find(caller.tenant, name)),
  };
  const respond = createServerResponder(requestParts);
  const blocks = composeBlocks({ ...common, access, servers, vault });
  const sets = composeSets({ ...common, ...requestParts, blocks, limits });
  const chat = composeChat({ ...common, ...requestParts, ...{ callParts, egress, limits, resolveCaller } });

  const mcpEndpoint = composeMcp({
    ...{ ...common, ...requestParts, access, limits, servers },
    acceptsIdJags: authorizationServer?.acceptsIdJags ?? false,
    baseUrl: () => origins.baseUrl,
  });

  const routes: Route[] = [
    healthRoute,
    readyRoute(readiness),
    ...webRoutes({ ...browserParts, web, accounts, offersSetup: env.OPENID_ISSUER === undefined }),
    ...pageRoutes({ setup }),
    setupRoute({ ...browserParts, setup }),
    loginRoute({ ...browserParts, signIn }),
    logoutRoute(browserParts),
    ...(openId?.browser
      ? openIdRoutes({
          ...openId.browser,
          origins: () => origins,
          ...{ cookie: () => cookie, random, logger, audit, limits, clientAddressOf },
        })
      : []),
    ...resourceServer.routes,
    ...(authorizationServer?.createRoutes({
      ...{ origins: () => origins, cookie: () => cookie, sessions, audit, logger, limits, clientAddressOf },
    }) ?? []),
    userRoute({ roles, offersOpenId }),
    ...ownSessionRoutes({ sessions, audit }),
    ...keyRoutes(access.apiKeys),
    ...roleRoutes(access),
    // Before what names a server: `blocks`, `sets` and `runs` are none.
    ...blockRoutes(blocks, respond),
    ...sets.routes,
    toolsRoute(callParts, logger),
    serverToolsRoute(callParts, logger),
    callToolRoute(callParts, respond),
    ...listRoutes(callParts),
    ...readRoutes(callParts, respond),
    reinitializeRoute(servers.reinit, logger),
    diagnoseRoute(servers.diagnosis),
    diagnoseUserRoute({ diagnosis: servers.diagnosis, users: access.userAdmin, audit }),
    ...oauthRoutes({
      ...{ ...common, ...callParts },
      ...{
        oauth: servers.oauth,
        drafts: servers.drafts,
        vault: vault.vault,
        registry: servers.registry,
        audit,
        logger,
        sessions,
        signInStats,
      },
      ...{
        cookie: () => cookie,
        origins: () => origins,
        limits,
        clientAddressOf,
        invalidateUserState: servers.invalidateUserState,
      },
    }),
    ...statusRoutes({ ...servers.status, oauthTimeoutMs: env.MCP_OAUTH_HANDLING_TIMEOUT }),
    ...variableRoutes({
      ...{
        ...servers.status,
        audit,
        vault: vault.vault,
        flows: primary.oauthFlows,
        invalidateUserState: servers.invalidateUserState,
      },
    }),
    ...approvalRoutes(callParts),
    ...chat.routes,
    discoverToolsRoute({ ...servers.discoveryParts, origins: () => origins }),
    ...mcpEndpoint.routes,
    ...serverRoutes(servers.configure),
    ...permissionRoutes({
      ...servers.configure,
      registry: servers.registry,
      acl,
      roles,
      users: primary.users,
    }),
    ...adminServerRoutes(servers.overrideParts),
    ...adminRoleRoutes(access.roleAdmin),
    ...adminUserRoutes(access.userAdmin),
    ...adminSessionRoutes(access.userAdmin),
    ...auditRoutes({ store: primary.audit, keyring, auditLog: audit }),
    metricsRoute({ metrics, token: env.METRICS_TOKEN, admission }),
    connectionsRoute({ ...servers.status, connections, registry: servers.registry, replica: replicaId }),
    statsRoute({ history, exchanges, refreshes, replica: replicaId }),
    configRoute({ configuration, env, record }),
    reloadRoute({ reload, announce: () => changes.publish({ topic: 'settings', id: replicaId }), audit }),
  ];
  const app = createApp({
    ...{ routes, admission, headers, trustProxy: env.TRUST_PROXY },
    problemOf: (error, req) => resourceServer.challenge(problemOf(error), req),
  });
  const isAllowed = (origin: string) =>
    configuration.current().mcpSettings.endpoint?.allowedOrigins.includes(origin) === true;
  const corsListener = createCorsListener({ routes, isAllowed, next: app });

  return {
    listener: corsListener,
    routes,
    onListening(port) {
      listenAddresses = [{ address: env.HOST.replace(/^\[|\]$/g, ''), port }];
      origins = createOrigins(env, port);
      cookie = createSessionCookie(origins);
      return origins.baseUrl;
    },
    async createSetupLink() {
      // With an identity provider the first administrator comes from there.
      if (env.OPENID_ISSUER !== undefined) return null;
      const secret = await setup.issueLink();
      return secret && `${origins.baseUrl}/setup?token=${secret}`;
    },
    reload: () => void reload('SIGHUP'),
    isRefreshing: () => vault.vault.activeRenewals > 0,
    drain() {
      isDraining = true;
      chat.drain();
      mcpEndpoint.drain();
      sets.drain();
    },
    close: () => disposables.disposeAll(),
  };
}
