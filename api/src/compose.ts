import { readFileSync } from 'node:fs';
import type { Env, EnvRecord } from '@behalf/contracts';
import { systemLocalAddresses, systemResolve } from '@behalf/egress';
import { isStoreKeyValid, type Principal } from '@behalf/gateway';
import { createKeyring, type Clock, type Dial, type Random } from '@behalf/kernel';
import { loadKeys, openCoordination, openPrimary } from '@behalf/stores/open';
import { auditRoutes } from './admin/audit.ts';
import { configRoute } from './admin/config.ts';
import { connectionsRoute } from './admin/connections.ts';
import { reloadRoute } from './admin/reload.ts';
import { adminRoleRoutes } from './admin/roles.ts';
import { adminServerRoutes } from './admin/servers.ts';
import { adminSessionRoutes } from './admin/sessions.ts';
import { statsRoute } from './admin/stats.ts';
import { adminUserRoutes } from './admin/users.ts';
import { createApp } from './app.ts';
import { findCaFile } from './findCaFile.ts';
import { createDisposables, type Disposables } from './disposables.ts';
import { composeAccess } from './composeAccess.ts';
import { composeBlocks } from './composeBlocks.ts';
import { composeChat } from './composeChat.ts';
import { oauthRoutes } from './composeOAuth.ts';
import { composeMcp } from './composeMcp.ts';
import { composeResource } from './composeResource.ts';
import { composeSets } from './composeSets.ts';
import { composeServers } from './composeServers.ts';
import { composeVault } from './composeVault.ts';
import { createConfiguration } from './configuration.ts';
import { createSessionCookie } from './cookies.ts';
import { createClientAddressReader } from './http/clientAddress.ts';
import { createAdmission } from './http/admission.ts';
import { createCallerResolver } from './http/callerResolver.ts';
import { createCorsListener } from './http/corsOrigins.ts';
import { createRateLimits } from './http/rateLimits.ts';
import { securityHeaders } from './http/securityHeaders.ts';
import { createClientFetchLimit } from './authorizationServer/clientFetchLimit.ts';
import type { GatewayServer } from './gateway.ts';
import type { Route } from './http/routes.ts';
import { createEventLog } from './eventLog.ts';
import type { Logger } from './logger.ts';
import { createProblemMap } from './middleware/problem.ts';
import { createNetwork } from './network.ts';
import { openIdRoutes } from './oauth/openid.ts';
import { createCallHistory } from './ops/callHistory.ts';
import { createExchangeStats } from './ops/exchangeStats.ts';
import { createMetrics, serverLabel } from './ops/metrics.ts';
import { metricsRoute } from './ops/metricsRoute.ts';
import { createGatewayPresence } from './ops/presence.ts';
import { createReadiness } from './ops/readiness.ts';
import { createRefreshStats } from './ops/refreshStats.ts';
import { createSignInStats } from './ops/signInStats.ts';
import { healthRoute, readyRoute } from './ops/routes.ts';
import { createOrigins } from './origins.ts';
import { pageRoutes } from './pages/routes.ts';
import { loginRoute } from './rest/auth/login.ts';
import { logoutRoute } from './rest/auth/logout.ts';
import { setupRoute } from './rest/auth/setup.ts';
import { approvalRoutes } from './rest/mcp/approvals.ts';
import { createServerResponder } from './rest/mcp/serverResponder.ts';
import { blockRoutes } from './rest/mcp/blocks/routes.ts';
import { callToolRoute } from './rest/mcp/callTool.ts';
import { diagnoseUserRoute } from './oauth/diagnoseUserRoute.ts';
import { diagnoseRoute } from './rest/mcp/diagnose.ts';
import { createInFlightLimiter } from './rest/mcp/inFlightLimiter.ts';
import { statusRoutes } from './rest/mcp/connectionStatus.ts';
import { listRoutes } from './rest/mcp/lists.ts';
import { readRoutes } from './rest/mcp/readServer.ts';
import { createRequestIds } from './rest/mcp/requestIds.ts';
import { reinitializeRoute } from './rest/mcp/reinitialize.ts';
import { discoverToolsRoute } from './rest/mcp/servers/discoverTools.ts';
import { serverRoutes } from './rest/mcp/servers/routes.ts';
import { serverToolsRoute } from './rest/mcp/servers/serverTools.ts';
import { toolsRoute } from './rest/mcp/tools.ts';
import { variableRoutes } from './rest/mcp/userVariables.ts';
import { permissionRoutes } from './rest/permissions/routes.ts';
import { createEndpointResources } from './resource/endpointResources.ts';
import { roleRoutes } from './rest/roles.ts';
import { keyRoutes } from './rest/user/keys.ts';
import { ownSessionRoutes } from './rest/user/sessions.ts';
import { userRoute } from './rest/user/user.ts';
import { runConfigurationStep, EXIT_CONFIG, EXIT_TRY_LATER, StartError, runStoreStep } from './startError.ts';
import { storeTargets } from './storeTargets.ts';
import { version } from './version.ts';
import { webRoutes } from './web/routes.ts';
import type { WebFiles } from './web/webFiles.ts';

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
