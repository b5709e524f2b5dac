import type { RequestListener } from 'node:http';
import type { Env, EnvRecord } from '@behalf/contracts';
import { systemLocalAddresses, systemResolve } from '@behalf/egress';
import type { Clock, Dial, Random } from '@behalf/kernel';
import { createAdmission, createCallerResolver } from '../http/authentication.ts';
import { createProblemMap } from '../http/errors.ts';
import { createRequestIds } from '../http/inbound.ts';
import { createInFlightLimiter, createRateLimits } from '../http/limits.ts';
import { createPublicAddress } from '../http/origins.ts';
import { createClientAddressReader } from '../http/request.ts';
import { createEndpointResources } from '../http/resourceServer.ts';
import type { Route } from '../http/route.ts';
import { securityHeaders } from '../http/securityHeaders.ts';
import { createApp, createCorsListener } from '../http/server.ts';
import type { WebFiles } from '../http/staticFiles.ts';
import { createCallHistory } from '../routes/ops/callHistory.ts';
import { createExchangeStats, createRefreshStats, createSignInStats } from '../routes/ops/counters.ts';
import { createReadiness } from '../routes/ops/health.ts';
import { createMetrics, createServerLabel } from '../routes/ops/metrics.ts';
import { createSetupLinks } from '../routes/pages/setupPage.ts';
import { createServerResponder } from '../routes/rest/serverResponder.ts';
import { createConfiguration, createReloader, warnAboutUnusedVariables } from '../runtime/configuration.ts';
import { type Disposables, createDisposables, runConfigurationStep } from '../runtime/lifecycle.ts';
import { type Logger, createEventLog } from '../runtime/logger.ts';
import { createNetwork } from '../runtime/network.ts';
import { version } from '../runtime/version.ts';
import { composeAccess, composeAudit } from './access.ts';
import { composeBlocks, composeSets } from './blocks.ts';
import { composeChat } from './chat.ts';
import type { ComposeContext } from './context.ts';
import { composeMcp } from './mcp.ts';
import { composeRoutes } from './routes.ts';
import { type Servers, composeServers } from './servers.ts';
import { composeStores } from './stores.ts';
import { composeVault } from './vault.ts';

/** The composed gateway, as `main.ts` and tests use it. */
export interface GatewayServer {
  readonly listener: RequestListener;
  readonly routes: readonly Route[];
  /** Called when the port is known, because links and origin checks depend on it. Returns the base URL. */
  onListening(port: number): string;
  /** The link to create the first administrator; null if there are users or an identity provider. */
  createSetupLink(): Promise<string | null>;
  reload(): void;
  /** Whether a token refresh is in flight. A rotated refresh token would be lost if the process ended now. */
  isRefreshing(): boolean;
  /** From now on `/ready` answers 503. Requests in flight continue. */
  drain(): void;
  /** Idempotent. */
  close(): Promise<void>;
}

interface ComposeParts {
  env: Env;
  record: EnvRecord;
  /** LibreChat variables that are set and that the gateway does not read. */
  ignored: readonly string[];
  logger: Logger;
  clock: Clock;
  random: Random;
  /** Opens sockets to addresses that egress has checked. */
  dial: Dial;
  /** The built interface; null if it was not built. */
  web: WebFiles | null;
  /** Adds values that the log must redact. */
  addSecrets: (secrets: readonly string[]) => void;
  /** The store is in maintenance: further writes would be lost, so the process must end at once. */
  onEvicted: () => void;
}

/** The composition root. If construction fails, everything that was opened is closed again. */
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

async function construct(parts: ComposeParts, disposables: Disposables): Promise<GatewayServer> {
  const { env, record, logger, clock, random, dial, web, addSecrets } = parts;
  // The configuration comes first: its errors are reported before anything is opened or created.
  const configuration = runConfigurationStep(() => createConfiguration({ env, record, logger }));
  addSecrets(configuration.secrets());
  configuration.onChange(() => addSecrets(configuration.secrets()));
  warnAboutUnusedVariables(configuration, parts.ignored, logger);
  const stores = await composeStores({ ...parts, disposables });
  const { keyring, primary, coordination, presence } = stores;
  const address = createPublicAddress(env);
  if (address.origins().onlyLoopbackCanSignIn) {
    logger.warn(
      'PUBLIC_URL is not set: browsers can sign in at localhost only. Set it to the address that users open.',
    );
  }
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
      origins: [address.baseUrl()],
      listeners: address.listeners(),
      localAddresses: systemLocalAddresses,
    }),
  });
  disposables.add(() => egress.close());
  const log = createEventLog(logger);
  const context: ComposeContext = {
    ...{ env, record, logger, log, clock, random, keyring, configuration, primary, coordination },
    ...{ disposables, egress, address },
  };

  // Identity, access and servers.
  const limits = createRateLimits({
    clock,
    perMinute: { calls: env.RATE_LIMIT_CALLS, writes: env.RATE_LIMIT_WRITES },
  });
  const clientAddressOf = createClientAddressReader(env.TRUST_PROXY);
  const exchanges = createExchangeStats();
  const refreshes = createRefreshStats();
  const signInStats = createSignInStats();
  const audit = composeAudit(context);
  // Loaded only if configured, because it depends on large libraries.
  const identityProvider =
    env.OPENID_ISSUER === undefined ? null : (await import('./openId.ts')).composeIdentityProvider(context);
  const vault = composeVault(context, {
    ...{ audit, refreshes, loginGrants: identityProvider?.grantContexts ?? null },
    serverGrants: () => servers.oauth,
  });
  const endpoints = createEndpointResources(address);
  const access = await composeAccess(context, {
    ...{ audit, vault: vault.vault, identityProvider, endpoints, limits, clientAddressOf },
  });
  const servers: Servers = await composeServers(context, { access, vault, exchanges });

  // Requests.
  const replica = random.id();
  const reloader = createReloader({ configuration, changes: coordination.changes, logger, replica });
  disposables.add(() => reloader.stop());
  const readiness = createReadiness({ version, primary, coordination, clock });
  const history = createCallHistory({ clock });
  const metrics = createMetrics({
    connections: () => servers.connections.counts(),
    ...{ exchanges, refreshes, signInStats, history, version },
  });
  const problemOf = createProblemMap({ random, logger });
  const { resourceServer } = access;
  const resolveCaller = createCallerResolver({
    ...{ ...access.callerCaches, ...address, limits, clientAddressOf },
    checkToken: resourceServer.check,
  });
  const admission = createAdmission({
    ...{ ...address, resolveCaller, limits },
    rejectsWrites: presence.isEvicted,
  });
  const headers = securityHeaders({ https: address.origins().secure });
  const requestParts = {
    ...{ metrics, clock, logger, headers, problemOf, limits, resolveCaller },
    inFlight: createInFlightLimiter(),
    requestIds: createRequestIds(random),
    labelOf: createServerLabel(servers.registry),
  };

  // Entry points.
  const blocks = composeBlocks(context, { access, servers, vault });
  const sets = composeSets(context, { ...requestParts, blocks });
  const chat = composeChat(context, { ...requestParts, callParts: servers.callParts });
  const mcp = composeMcp(context, {
    ...{ ...requestParts, access, servers },
    acceptsIdJags: access.authorizationServer?.acceptsIdJags ?? false,
  });
  const routes = composeRoutes(context, {
    ...{ access, vault, servers, blocks, web, admission, limits, clientAddressOf, readiness, reloader },
    ...{ metrics, history, exchanges, refreshes, signInStats, replica },
    respond: createServerResponder(requestParts),
    setRoutes: sets.routes,
    chatRoutes: chat.routes,
    mcpRoutes: mcp.routes,
  });
  const app = createApp({
    ...{ routes, admission, headers, trustProxy: env.TRUST_PROXY },
    problemOf: (error, req) => resourceServer.challenge(problemOf(error), req),
  });
  const allowedOrigins = configuration.derive(
    ({ mcpSettings }) => new Set(mcpSettings.endpoint?.allowedOrigins ?? []),
  );
  return {
    listener: createCorsListener({ routes, allowedOrigins, next: app }),
    routes,
    onListening: address.onListening,
    createSetupLink: createSetupLinks({ env, setup: access.setup, baseUrl: address.baseUrl }),
    reload: () => void reloader.reload('SIGHUP'),
    isRefreshing: () => vault.vault.activeRenewals > 0,
    drain() {
      readiness.drain();
      chat.drain();
      mcp.drain();
      sets.drain();
    },
    close: () => disposables.disposeAll(),
  };
}
