import { readFileSync } from 'node:fs';
import type { Env, EnvRecord } from '@behalf/contracts';
import { systemLocalAddresses } from '@behalf/egress';
import {
  createAccounts,
  createPasswords,
  createSessionCache,
  createSessions,
  createSetup,
  createSignIn,
  findServers,
  keyFitsStore,
  permits,
} from '@behalf/gateway';
import { createKeyring, type Clock, type Random } from '@behalf/kernel';
import { loadKeys, openCoordination, openPrimary } from '@behalf/stores/open';
import { reloadRoute } from './admin/reload.ts';
import { createApp } from './app.ts';
import { createClosers, type Closers } from './closers.ts';
import { composeServers } from './composeServers.ts';
import { createConfiguration } from './configuration.ts';
import { createSessionCookie } from './cookies.ts';
import { createAdmission } from './door/admission.ts';
import { securityHeaders } from './door/securityHeaders.ts';
import type { Gateway } from './gateway.ts';
import type { Route } from './http.ts';
import type { Logger } from './logger.ts';
import { createProblemMap } from './middleware/problem.ts';
import { createMetrics, serverLabel } from './ops/metrics.ts';
import { metricsRoute } from './ops/metricsRoute.ts';
import { createPresence } from './ops/presence.ts';
import { createReadiness } from './ops/readiness.ts';
import { healthRoute, readyRoute } from './ops/routes.ts';
import { every } from './ops/upkeep.ts';
import { createOrigins } from './origins.ts';
import { pageRoutes } from './pages/routes.ts';
import { loginRoute } from './rest/auth/login.ts';
import { logoutRoute } from './rest/auth/logout.ts';
import { setupRoute } from './rest/auth/setup.ts';
import { createAnswering } from './rest/mcp/answering.ts';
import { callToolRoute } from './rest/mcp/callTool.ts';
import { statusRoutes } from './rest/mcp/connectionStatus.ts';
import { listRoutes } from './rest/mcp/lists.ts';
import { readRoutes } from './rest/mcp/readServer.ts';
import { reinitializeRoute } from './rest/mcp/reinitialize.ts';
import { toolsRoute } from './rest/mcp/tools.ts';
import { variableRoutes } from './rest/mcp/userVariables.ts';
import { userRoute } from './rest/user.ts';
import { configurationStep, EXIT_CONFIG, EXIT_TRY_LATER, StartError, storeStep } from './startError.ts';
import { storeTargets } from './storeTargets.ts';
import { version } from './version.ts';

const SWEEP_MS = 60 * 60 * 1000;

export interface ComposeParts {
  env: Env;
  record: EnvRecord;
  /** LibreChat's variables that are set and that the gateway itself does not read. */
  ignored: readonly string[];
  logger: Logger;
  clock: Clock;
  random: Random;
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
  const { env, record, ignored, logger, clock, random, protect, onEvicted } = parts;
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
  if (!(await storeStep(targets, () => keyFitsStore(primary.system, keyring)))) {
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
      'The store is in maintenance (a copy, a key rotation), or holds an unfinished copy. Start again when that is done.',
      EXIT_TRY_LATER,
    );
  }
  closers.add(() => presence.end());

  const { users, tickets } = primary;
  const { changes, attempts } = coordination;
  const passwords = createPasswords(random);
  const accounts = createAccounts({ users, changes, passwords, keyring, clock, random });
  const sessions = createSessions({ sessions: primary.sessions, users, changes, clock, random });
  const setup = createSetup({ tickets, accounts, clock, random });
  const signIn = createSignIn({ accounts, attempts, clock });
  closers.add(every(SWEEP_MS, clock, () => sessions.sweep()));

  const sessionCache = createSessionCache({ sessions, changes, clock });
  closers.add(() => sessionCache.close());

  let origins = createOrigins(env, env.PORT);
  let listeningOn: { address: string; port: number }[] = [];
  const servers = await composeServers({
    ...{ env, record, logger, clock, random, keyring, configuration, primary, changes, closers },
    own: () => ({ origins: [origins.base], listening: listeningOn, localAddresses: systemLocalAddresses }),
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
  const browser = { sessions, cookie: () => cookie, logger };
  const metrics = createMetrics({ connections: () => connections.counts(), version });
  const problemOf = createProblemMap({ random, logger });
  const admission = createAdmission({
    sessions: sessionCache,
    origins: () => origins,
    cookie: () => cookie,
    refusesWrites: () => evicted,
  });
  const headers = securityHeaders({ https: origins.secure });
  const answering = createAnswering({
    metrics,
    clock,
    logger,
    headers,
    problemOf,
    labelOf: (caller, name) => serverLabel(asking.registry.find(caller.tenant, name)),
  });

  const routes: Route[] = [
    healthRoute,
    readyRoute(readiness),
    ...pageRoutes({
      ...browser,
      accounts,
      setup,
      offersSetup: env.OPENID_ISSUER === undefined,
      servers: (caller) =>
        permits(asking.requirePermission(), caller, 'USE')
          ? findServers(asking, caller).map(({ settings }) => settings)
          : [],
    }),
    setupRoute({ ...browser, setup }),
    loginRoute({ ...browser, signIn }),
    logoutRoute(browser),
    userRoute,
    toolsRoute(asking, logger),
    callToolRoute(asking, answering),
    ...listRoutes(asking),
    ...readRoutes(asking, answering),
    reinitializeRoute(servers.reinit, logger),
    ...statusRoutes({ ...servers.status, oauthTimeoutMs: env.MCP_OAUTH_HANDLING_TIMEOUT }),
    ...variableRoutes({ ...servers.status, forget: servers.forget }),
    metricsRoute({ metrics, token: env.METRICS_TOKEN, admission }),
    reloadRoute({ reload, announce: () => changes.publish({ topic: 'settings', id: self }) }),
  ];
  const listener = createApp({
    routes,
    admission,
    headers,
    problemOf,
    trustProxy: env.TRUST_PROXY,
  });

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
      const secret = await setup.offer();
      return secret && `${origins.base}/setup?token=${secret}`;
    },
    reload: () => void reload('SIGHUP'),
    drain() {
      draining = true;
    },
    close: () => closers.closeAll(),
  };
}
