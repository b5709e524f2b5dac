import type { BlockParts } from '@behalf/gateway';
import type { Admission } from '../http/authentication.ts';
import type { RateLimits } from '../http/limits.ts';
import type { ClientAddressReader } from '../http/request.ts';
import type { Route } from '../http/route.ts';
import { createFindSignedInUser } from '../http/signedInUser.ts';
import type { WebFiles } from '../http/staticFiles.ts';
import { auditRoutes } from '../routes/admin/audit.ts';
import { configRoute, reloadRoute } from '../routes/admin/configuration.ts';
import { connectionsRoute } from '../routes/admin/connections.ts';
import { diagnoseUserRoute, reauthRoute } from '../routes/admin/credentials.ts';
import { adminRoleRoutes, roleRoutes } from '../routes/admin/roles.ts';
import { adminServerRoutes } from '../routes/admin/servers.ts';
import { adminSessionRoutes, adminUserRoutes } from '../routes/admin/users.ts';
import { callbackRoute, resultRoutes } from '../routes/oauth/callback.ts';
import { clientDocumentRoutes } from '../routes/oauth/clientDocuments.ts';
import { connectLinkRoute, connectRoutes, createConnectLinks } from '../routes/oauth/connect.ts';
import { flowRoutes } from '../routes/oauth/flows.ts';
import { type CallHistory, statsRoute } from '../routes/ops/callHistory.ts';
import type { ExchangeStats, RefreshStats, SignInStats } from '../routes/ops/counters.ts';
import { type Readiness, healthRoute, readyRoute } from '../routes/ops/health.ts';
import { type Metrics, metricsRoute } from '../routes/ops/metrics.ts';
import { webRoutes } from '../routes/pages/interface.ts';
import { pageRoutes } from '../routes/pages/setupPage.ts';
import { approvalRoutes } from '../routes/rest/approvals.ts';
import { loginRoute, logoutRoute, setupRoute } from '../routes/rest/auth.ts';
import { blockRoutes } from '../routes/rest/blocks.ts';
import { diagnoseRoute, reinitializeRoute, statusRoutes } from '../routes/rest/connection.ts';
import { credentialRoutes } from '../routes/rest/credentials.ts';
import { permissionRoutes } from '../routes/rest/permissions.ts';
import { listRoutes, readRoutes } from '../routes/rest/resources.ts';
import type { ServerResponder } from '../routes/rest/serverResponder.ts';
import { discoverToolsRoute, serverRoutes } from '../routes/rest/servers.ts';
import { callToolRoute, serverToolsRoute, toolsRoute } from '../routes/rest/tools.ts';
import { keyRoutes, ownSessionRoutes, userRoute } from '../routes/rest/user.ts';
import { variableRoutes } from '../routes/rest/userVariables.ts';
import type { Reloader } from '../runtime/configuration.ts';
import type { ComposedAccess } from './access.ts';
import type { ComposeContext } from './context.ts';
import type { Servers } from './servers.ts';
import type { Vault } from './vault.ts';

interface RouteParts {
  readonly access: ComposedAccess;
  readonly vault: Vault;
  readonly servers: Servers;
  readonly blocks: BlockParts;
  readonly setRoutes: readonly Route[];
  readonly chatRoutes: readonly Route[];
  readonly mcpRoutes: readonly Route[];
  readonly web: WebFiles | null;
  readonly admission: Admission;
  readonly respond: ServerResponder;
  readonly limits: RateLimits;
  readonly clientAddressOf: ClientAddressReader;
  readonly readiness: Readiness;
  readonly reloader: Reloader;
  readonly metrics: Metrics;
  readonly history: CallHistory;
  readonly exchanges: ExchangeStats;
  readonly refreshes: RefreshStats;
  readonly signInStats: SignInStats;
  /** Identifies this process. */
  readonly replica: string;
}

/** All routes. The first route that matches a request is used, so literal paths come before parameters. */
export function composeRoutes(context: ComposeContext, parts: RouteParts): Route[] {
  const { env, record, keyring, clock, logger, primary, configuration, address } = context;
  const { access, servers, replica, metrics, history, exchanges, refreshes, reloader, respond } = parts;
  const { audit, accounts, sessions, setup, signIn, acl, roles, openId, authorizationServer, userAdmin } =
    access;
  const { callParts, registry, oauth, drafts, invalidateUserState, status, configure } = servers;
  const { vault } = parts.vault;
  const { cookie, origins, baseUrl } = address;
  const { users } = primary;
  const offersOpenId = openId?.browser != null;
  const findSignedInUser = createFindSignedInUser({ sessions, cookie });
  const browserParts = { sessions, cookie, logger, audit, offersOpenId };
  const signInParts = {
    ...{ ...callParts, oauth, drafts, origins, findSignedInUser, logger },
    ...{ limits: parts.limits, clientAddressOf: parts.clientAddressOf, signInStats: parts.signInStats },
  };
  const credentialParts = {
    ...{ ...callParts, oauth, drafts, origins, invalidateUserState },
    ...{ usage: primary.credentialUsage, flows: primary.oauthFlows },
  };

  return [
    healthRoute,
    readyRoute(parts.readiness),
    ...webRoutes({
      ...{ web: parts.web, accounts, findSignedInUser, offersOpenId },
      offersSetup: env.OPENID_ISSUER === undefined,
    }),
    ...pageRoutes({ setup }),
    setupRoute({ ...browserParts, setup }),
    loginRoute({ ...browserParts, signIn }),
    logoutRoute(browserParts),
    ...(openId?.browser?.routes ?? []),
    ...access.resourceServer.routes,
    ...(authorizationServer?.routes ?? []),
    userRoute({ roles, offersOpenId }),
    ...ownSessionRoutes({ sessions, audit }),
    ...keyRoutes(access.apiKeys),
    ...roleRoutes(access),
    ...blockRoutes(parts.blocks, respond),
    ...parts.setRoutes,
    toolsRoute(callParts, logger),
    serverToolsRoute(callParts, logger),
    callToolRoute(callParts, respond),
    ...listRoutes(callParts),
    ...readRoutes(callParts, respond),
    reinitializeRoute(servers.reinit, logger),
    diagnoseRoute(servers.diagnosis),
    diagnoseUserRoute({ diagnosis: servers.diagnosis, users: userAdmin, audit }),
    ...flowRoutes(signInParts),
    connectLinkRoute({ ...callParts, connectLinks: createConnectLinks({ ...callParts, keyring, clock }) }),
    ...connectRoutes(signInParts),
    callbackRoute(signInParts),
    ...credentialRoutes(credentialParts),
    ...clientDocumentRoutes({ oauth, registry, drafts, baseUrl }),
    ...resultRoutes(),
    reauthRoute({ registry, vault, users, audit }),
    ...statusRoutes({ ...status, oauthTimeoutMs: env.MCP_OAUTH_HANDLING_TIMEOUT }),
    ...variableRoutes({ ...credentialParts, variables: servers.variables }),
    ...approvalRoutes(callParts),
    ...parts.chatRoutes,
    discoverToolsRoute({ ...servers.discovery, origins }),
    ...parts.mcpRoutes,
    ...serverRoutes(configure),
    ...permissionRoutes({ ...configure, registry, acl, roles, users }),
    ...adminServerRoutes(servers.overrideParts),
    ...adminRoleRoutes(access.roleAdmin),
    ...adminUserRoutes(userAdmin),
    ...adminSessionRoutes(userAdmin),
    ...auditRoutes({ store: primary.audit, keyring, auditLog: audit }),
    metricsRoute({ metrics, token: env.METRICS_TOKEN, admission: parts.admission }),
    connectionsRoute({ ...servers, replica }),
    statsRoute({ history, exchanges, refreshes, replica }),
    configRoute({ configuration, env, record }),
    reloadRoute({ ...reloader, audit }),
  ];
}
