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
import { caFileOf } from './caFileOf.ts';
import { createClosers, type Closers } from './closers.ts';
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
import { createAddressOf } from './door/addressOf.ts';
import { createAdmission } from './door/admission.ts';
import { createCallers } from './door/callers.ts';
import { createGuestPages } from './door/guestPages.ts';
import { createRateLimits } from './door/rateLimits.ts';
import { securityHeaders } from './door/securityHeaders.ts';
import { createAskLimit } from './facade/askLimit.ts';
import type { Gateway } from './gateway.ts';
import type { Route } from './http.ts';
import { createEventLog } from './eventLog.ts';
import type { Logger } from './logger.ts';
import { createProblemMap } from './middleware/problem.ts';
import { createNetwork } from './network.ts';
import { openIdRoutes } from './oauth/openid.ts';
import { createCallHistory } from './ops/callHistory.ts';
import { createExchangeStats } from './ops/exchangeStats.ts';
import { createMetrics, serverLabel } from './ops/metrics.ts';
import { metricsRoute } from './ops/metricsRoute.ts';
import { createPresence } from './ops/presence.ts';
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
import { createAnswering } from './rest/mcp/answering.ts';
import { blockRoutes } from './rest/mcp/blocks/routes.ts';
import { callToolRoute } from './rest/mcp/callTool.ts';
import { diagnoseUserRoute } from './oauth/diagnoseUserRoute.ts';
import { diagnoseRoute } from './rest/mcp/diagnose.ts';
import { createInFlight } from './rest/mcp/inFlight.ts';
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
import { createEndpoints } from './resource/endpoints.ts';
import { roleRoutes } from './rest/roles.ts';
import { keyRoutes } from './rest/user/keys.ts';
import { ownSessionRoutes } from './rest/user/sessions.ts';
import { userRoute } from './rest/user/user.ts';
import { configurationStep, EXIT_CONFIG, EXIT_TRY_LATER, StartError, storeStep } from './startError.ts';
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
  protect: (secrets: readonly string[]) => void;
  /** Somebody moves the store: whatever is written now would be lost. End at once. */
  onEvicted: () => void;
}

/** The only place that constructs. What a failed start had opened is closed again. */
export async function compose(parts: ComposeParts): Promise<Gateway> {
  const closers = createClosers((error) =>
    parts.logger.warn('A part did not close in good order', { error }),
  );
  try {
    return await construct(parts, closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

/** Reads from top to bottom as the list of parts. */
async function construct(parts: ComposeParts, closers: Closers): Promise<Gateway> {
  const { env, record, ignored, logger, clock, random, dial, web, protect, onEvicted } = parts;
  // Configuration first: a mistake in it is reported before anything is opened or created.
  const configuration = configurationStep(() => createConfiguration({ env, record, logger }));
  const valuesUsed = () => configuration.variables().flatMap((name) => record[name] ?? []);
  protect(valuesUsed());
  const idle = ignored.filter((name) => !configuration.variables().includes(name));
  if (idle.length > 0) logger.warn('LibreChat variables without effect here', { variables: idle });

  const keys = configurationStep(() =>
    loadKeys({ configured: env.CREDS_KEY, dataDir: env.BEHALF_DATA_DIR, random }),
  );
  const keyring = createKeyring(keys, random);
  const targets = configurationStep(() => storeTargets(env, (file) => readFileSync(file, 'utf8')));
  const primary = await storeStep(targets, () => openPrimary(targets, { clock, random }));
  closers.add(() => primary.close());
  const coordination = await storeStep(targets, () => openCoordination(targets, primary, { clock, random }));
  closers.add(() => coordination.close());
  if (!(await storeStep(targets, () => isStoreKeyValid(primary.system, keyring)))) {
    throw new StartError(
      'CREDS_KEY is not the key this store was sealed with. Set the key the other replicas use, or restore it from a backup.',
      EXIT_CONFIG,
    );
  }

  let draining = false;
  let evicted = false;
  const presence = createPresence({
    system: primary.system,
    clock,
    random,
    onEvicted: () => {
      evicted = true;
      onEvicted();
    },
  });
  if (!(await presence.begin())) {
    throw new StartError(
      'The store is in maintenance (a copy), or holds an unfinished copy. Start again when that is done.',
      EXIT_TRY_LATER,
    );
  }
  closers.add(() => presence.end());

  const { changes } = coordination;
  const log = createEventLog(logger);
  let origins = createOrigins(env, env.PORT);
  let listeningOn: { address: string; port: number }[] = [];
  const door = createNetwork({
    settings: configuration.current(),
    env: record,
    limits: {
      bodyBytes: env.MCP_STREAMABLE_HTTP_MAX_RESPONSE_BYTES,
      sseLineBytes: env.MCP_STREAMABLE_HTTP_MAX_LINE_BYTES,
    },
    identityOrigins: env.OPENID_ISSUER === undefined ? [] : [env.OPENID_ISSUER],
    resolve: systemResolve,
    ...{ dial, clock, keyring },
    own: () => ({ origins: [origins.base], listening: listeningOn, localAddresses: systemLocalAddresses }),
  });
  closers.add(() => door.close());
  const common = { env, clock, random, keyring, log, configuration, primary, coordination, closers };
  const refreshes = createRefreshStats();
  const vault = composeVault({ ...common, door, refreshes });
  const endpoints = createEndpoints({ base: () => origins.base });
  const access = await composeAccess({
    ...common,
    ...vault,
    identity: door.identity,
    identityTo: (issuer) => door.identityTo({ caFile: caFileOf(configuration.current(), issuer) }),
    documents: door.documents,
    asks: createAskLimit(clock, createAddressOf(env.TRUST_PROXY)),
    base: () => origins.base,
    isEndpoint: endpoints.isEndpoint,
  });
  const { audit, accounts, sessions, setup, signIn, roles, acl, openId, facade } = access;
  const exchanges = createExchangeStats();
  const servers = await composeServers({
    ...common,
    record,
    logger,
    door,
    access,
    vault,
    exchanges,
    base: () => origins.base,
  });
  const { asking, connections } = servers;
  configuration.onChange(() => protect(valuesUsed()));
  const reload = (asked: string) => {
    const outcome = configuration.reload();
    if (outcome.ok) logger.info('Configuration reloaded', { asked });
    else logger.error(`Configuration not reloaded, the running one stays. ${outcome.message}`, { asked });
    return outcome;
  };
  const self = random.id();
  closers.add(
    changes.subscribe(({ topic, id }) => {
      // Our own notice comes back to us; a widened one may be anybody's, and reading an unchanged file changes nothing.
      if (topic === 'settings' && id !== self) reload('another replica');
    }),
  );

  let cookie = createSessionCookie(origins);
  if (origins.onlyLoopbackCanSignIn) {
    logger.warn(
      'PUBLIC_URL is not set: browsers can sign in at localhost only. Set it to the address people use.',
    );
  }
  const readiness = createReadiness({ version, primary, coordination, clock, isDraining: () => draining });
  const offersOpenId = openId?.browser != null;
  const browser = { sessions, cookie: () => cookie, logger, audit, offersOpenId };
  const history = createCallHistory({ clock });
  const signIns = createSignInStats();
  const counted = { exchanges, refreshes, signIns, history };
  const metrics = createMetrics({ connections: () => connections.counts(), ...counted, version });
  const problemOf = createProblemMap({ random, logger });
  const limits = createRateLimits({
    clock,
    perMinute: { calls: env.RATE_LIMIT_CALLS, writes: env.RATE_LIMIT_WRITES },
  });
  const addressOf = createAddressOf(env.TRUST_PROXY);
  const resourceServer = composeResource({ env, facade, endpoints, base: () => origins.base });
  const callers = createCallers({
    ...access.known,
    checkToken: resourceServer.check,
    ...{ cookie: () => cookie, limits, addressOf },
  });
  const admission = createAdmission({
    callers,
    limits,
    origins: () => origins,
    cookie: () => cookie,
    refusesWrites: () => evicted,
  });
  const headers = securityHeaders({ https: origins.secure });
  const calling = {
    ...{ metrics, clock, logger, headers, problemOf, inFlight: createInFlight() },
    requestIds: createRequestIds(random),
    labelOf: (caller: Principal, name: string) => serverLabel(asking.registry.find(caller.tenant, name)),
  };
  const answering = createAnswering(calling);
  const blocks = composeBlocks({ ...common, access, servers, vault });
  const sets = composeSets({ ...common, ...calling, blocks, limits });
  const chat = composeChat({ ...common, ...calling, ...{ asking, door, limits, callers } });

  const endpoint = composeMcp({
    ...{ ...common, ...calling, access, limits, servers },
    takesIdJags: facade?.takesIdJags ?? false,
    base: () => origins.base,
  });

  const routes: Route[] = [
    healthRoute,
    readyRoute(readiness),
    ...webRoutes({ ...browser, web, accounts, offersSetup: env.OPENID_ISSUER === undefined }),
    ...pageRoutes({ setup }),
    setupRoute({ ...browser, setup }),
    loginRoute({ ...browser, signIn }),
    logoutRoute(browser),
    ...(openId?.browser
      ? openIdRoutes({
          ...openId.browser,
          origins: () => origins,
          ...{ cookie: () => cookie, random, logger, audit, limits, addressOf },
        })
      : []),
    ...resourceServer.routes,
    ...(facade?.doors({
      ...{ origins: () => origins, cookie: () => cookie, sessions, audit, logger, limits, addressOf },
    }) ?? []),
    userRoute({ roles, offersOpenId }),
    ...ownSessionRoutes({ sessions, audit }),
    ...keyRoutes(access.apiKeys),
    ...roleRoutes(access),
    // Before what names a server: `blocks`, `sets` and `runs` are none.
    ...blockRoutes(blocks, answering),
    ...sets.routes,
    toolsRoute(asking, logger),
    serverToolsRoute(asking, logger),
    callToolRoute(asking, answering),
    ...listRoutes(asking),
    ...readRoutes(asking, answering),
    reinitializeRoute(servers.reinit, logger),
    diagnoseRoute(servers.diagnosis),
    diagnoseUserRoute({ diagnosis: servers.diagnosis, users: access.userAdmin, audit }),
    ...oauthRoutes({
      ...{ ...common, ...asking },
      ...{
        oauth: servers.oauth,
        drafts: servers.drafts,
        vault: vault.vault,
        registry: servers.registry,
        audit,
        logger,
        sessions,
        signIns,
      },
      ...{ cookie: () => cookie, origins: () => origins, limits, addressOf, forget: servers.forget },
    }),
    ...statusRoutes({ ...servers.status, oauthTimeoutMs: env.MCP_OAUTH_HANDLING_TIMEOUT }),
    ...variableRoutes({
      ...{ ...servers.status, audit, vault: vault.vault, flows: primary.oauthFlows, forget: servers.forget },
    }),
    ...approvalRoutes(asking),
    ...chat.routes,
    discoverToolsRoute({ ...servers.discovering, origins: () => origins }),
    ...endpoint.routes,
    ...serverRoutes(servers.configure),
    ...permissionRoutes({
      ...servers.configure,
      registry: servers.registry,
      acl,
      roles,
      users: primary.users,
    }),
    ...adminServerRoutes(servers.overriding),
    ...adminRoleRoutes(access.roleAdmin),
    ...adminUserRoutes(access.userAdmin),
    ...adminSessionRoutes(access.userAdmin),
    ...auditRoutes({ store: primary.audit, keyring, auditLog: audit }),
    metricsRoute({ metrics, token: env.METRICS_TOKEN, admission }),
    connectionsRoute({ ...servers.status, connections, registry: servers.registry, replica: self }),
    statsRoute({ history, exchanges, refreshes, replica: self }),
    configRoute({ configuration, env, record }),
    reloadRoute({ reload, announce: () => changes.publish({ topic: 'settings', id: self }), audit }),
  ];
  const app = createApp({
    ...{ routes, admission, headers, trustProxy: env.TRUST_PROXY },
    problemOf: (error, req) => resourceServer.challenge(problemOf(error), req),
  });
  const isAllowed = (origin: string) =>
    configuration.current().mcpSettings.endpoint?.allowedOrigins.includes(origin) === true;
  const listener = createGuestPages({ routes, isAllowed, serve: app });

  return {
    listener,
    routes,
    listening(port) {
      listeningOn = [{ address: env.HOST.replace(/^\[|\]$/g, ''), port }];
      origins = createOrigins(env, port);
      cookie = createSessionCookie(origins);
      return origins.base;
    },
    async setupLink() {
      // With an identity provider the first administrator comes from there.
      if (env.OPENID_ISSUER !== undefined) return null;
      const secret = await setup.issueLink();
      return secret && `${origins.base}/setup?token=${secret}`;
    },
    reload: () => void reload('SIGHUP'),
    isRenewing: () => vault.vault.activeRenewals > 0,
    drain() {
      draining = true;
      chat.drain();
      endpoint.drain();
      sets.drain();
    },
    close: () => closers.closeAll(),
  };
}
