import {
  type Approvals,
  type CallParts,
  type ConfigureParts,
  type ConnectionManager,
  type CredentialVault,
  type DiagnoseParts,
  type DiscoverParts,
  type InspectionScheduler,
  type ItemListCache,
  type ListAllServersParts,
  type ListChanges,
  type ListSubscriptions,
  type ListToolsParts,
  type Naming,
  type OAuthServices,
  type OAuthServicesParts,
  type OverrideParts,
  type Registry,
  type ReinitParts,
  type ServerDrafts,
  type ServerKeys,
  type StatusParts,
  type SubjectSource,
  type SubscribeParts,
  type UserVariables,
  type ViewParts,
  createApprovals,
  createArgumentValidator,
  createCatalog,
  createConnectionManager,
  createCredentials,
  createGrantProbe,
  createInspectDefinition,
  createInspectionScheduler,
  createItemListCache,
  createListAll,
  createListChanges,
  createListSubscriptions,
  createNaming,
  createOpenUpstream,
  createOutdatedTokenEviction,
  createOverrides,
  createRegistry,
  createRetiringServers,
  createServerDrafts,
  createServerGrants,
  createServerKeys,
  createServerSubscriptions,
  createSignInStarter,
  createStdioLimits,
  createStoredServers,
  createToolPolicy,
  createUserVariables,
  createVariableCache,
  inspectServer,
  invalidateUserLists,
  openWithListUpdates,
  openWithoutSession,
  readHolderValues,
  subscribeListInvalidation,
  subscribeToGrantChanges,
  subscribeToSignOuts,
} from '@behalf/gateway';
import { allowsPlainHttp } from '@behalf/settings';
import type { ExchangeStats } from '../routes/ops/counters.ts';
import { setPeriodic } from '../runtime/lifecycle.ts';
import { createDiagnosisNetwork } from '../runtime/network.ts';
import { version } from '../runtime/version.ts';
import type { ComposedAccess } from './access.ts';
import type { ComposeContext } from './context.ts';
import { composeOAuth } from './oauth.ts';
import { composeObo } from './obo.ts';
import type { Vault } from './vault.ts';

const DRAFT_SWEEP_MS = 60 * 1000;

interface ServersParts {
  readonly access: ComposedAccess;
  readonly vault: Vault;
  readonly exchanges: Pick<ExchangeStats, 'count'>;
  /** The metadata URLs of the gateway as OAuth client, where they differ from the defaults. */
  readonly clientUrls?: OAuthServicesParts['clientUrls'];
}

/** The services of this subsystem that entry points and routes use. */
export interface Servers {
  readonly callParts: CallParts &
    ListToolsParts &
    SubscribeParts & { readonly approvals: Approvals; readonly vault: CredentialVault };
  readonly connections: ConnectionManager;
  readonly registry: Registry;
  readonly inspectionScheduler: InspectionScheduler;
  readonly variables: UserVariables;
  readonly drafts: ServerDrafts;
  readonly oauth: OAuthServices;
  readonly subjects: Pick<SubjectSource, 'checkSubject'>;
  readonly itemLists: ItemListCache;
  readonly listSubscriptions: ListSubscriptions;
  readonly listChanges: ListChanges;
  readonly serverKeys: ServerKeys;
  readonly naming: () => Naming;
  /** Drops the connections and lists that were obtained with a user's old credential or values. */
  readonly invalidateUserState: (serverId: string, principal: string) => Promise<void>;
  readonly configure: ConfigureParts & ViewParts;
  readonly overrideParts: OverrideParts & ListAllServersParts;
  readonly reinit: ReinitParts;
  readonly status: StatusParts;
  readonly discovery: DiscoverParts;
  readonly diagnosis: DiagnoseParts;
}

/** The servers, the connections to them, and everything a call needs: credentials, tool lists, policy and approvals. */
export async function composeServers(context: ComposeContext, parts: ServersParts): Promise<Servers> {
  const { env, record, logger, log, clock, random, keyring, configuration, primary, disposables, egress } =
    context;
  const { coordination } = context;
  const { audit, roles, acl } = parts.access;
  const { vault, appTokens, oauthTokens, selector: credentialSelector } = parts.vault;
  const { changes, leases, cache } = coordination;
  const { users } = primary;

  // Connections and lists.
  const upstreamParts = {
    ...{ clock, random, version, log },
    network: egress.network,
    onStderr: (server: string, line: string) => logger.debug('A server wrote to stderr', { server, line }),
    kill: (pid: number, signal: NodeJS.Signals) => void process.kill(pid, signal),
  };
  const open = createOpenUpstream({ ...upstreamParts, limits: createStdioLimits() });
  const catalog = createCatalog({ clock, log });
  disposables.add(() => catalog.close());
  const itemLists = createItemListCache({ clock });
  const listSubscriptions = createListSubscriptions();
  const listChanges = createListChanges();
  const lists = { catalog, itemLists, listChanges };
  const connections = createConnectionManager({
    open: openWithListUpdates(open, { ...lists, listSubscriptions }),
    ...{ clock, random },
    limits: {
      idleTimeoutMs: env.MCP_USER_CONNECTION_IDLE_TIMEOUT,
      breakerThreshold: env.MCP_CB_MAX_FAILED_ROUNDS,
      breakerBaseMs: env.MCP_CB_BASE_BACKOFF_MS,
      breakerMaxMs: env.MCP_CB_MAX_BACKOFF_MS,
    },
  });
  const serverSubscriptions = createServerSubscriptions({ clock, random });
  disposables.add(() => serverSubscriptions.close());
  disposables.add(
    connections.onConnectionsDropped((principal, serverId) => serverSubscriptions.renew(principal, serverId)),
  );
  const listAll = createListAll({
    clock,
    limits: {
      pages: env.MCP_TOOLS_LIST_MAX_PAGES,
      items: env.MCP_TOOLS_LIST_MAX_TOOLS,
      bytes: env.MCP_TOOLS_LIST_MAX_BYTES,
      totalMs: env.MCP_TOOLS_LIST_TIMEOUT_MS,
    },
  });

  // The registry and its inspections.
  const inspectionScheduler = createInspectionScheduler({
    inspect: (server, options) => inspectServer({ connections, catalog, listAll }, server, options),
    onSignInRequired: (name) => registry.requireSignIn(name),
    ...{ clock, random, log },
  });
  disposables.add(() => inspectionScheduler.close());
  const registry = createRegistry({
    env: record,
    enforcedRestrictions: new Set(['access', 'tools', 'auth', 'toolApproval', 'sharing']),
    appBearer: (serverId, tenant) => appTokens.connectionBearer(serverId, tenant),
    hasFailedInspection: (server) => inspectionScheduler.getState(server).kind === 'failed',
    log,
  });

  // Credentials. On shutdown, connections are closed before the token services: ending a session needs its token.
  const variableCache = createVariableCache({ store: primary.variables, keyring, changes, clock });
  disposables.add(() => variableCache.close());
  const variables = createUserVariables({ store: primary.variables, keyring, changes, clock });
  const obo = await composeObo(context, { ...parts, registry });
  disposables.add(() => connections.close());
  const credentials = createCredentials({
    variables: variableCache,
    inheritedEnv: record,
    obo: obo.tokens,
    oauth: oauthTokens,
    graphScopes: env.GRAPH_API_SCOPES,
  });

  // Changes of the registry, of the configuration file, and of stored definitions.
  const evictOutdatedTokens = createOutdatedTokenEviction(obo.exchanger);
  disposables.add(
    registry.onChange(() => {
      const servers = registry.listAll();
      evictOutdatedTokens(servers);
      connections.update(servers);
      catalog.update(servers);
      inspectionScheduler.update(servers);
    }),
  );
  const naming = configuration.derive(({ mcpSettings }) => createNaming(mcpSettings.endpoint));
  const policy = configuration.derive(({ endpoints }) => createToolPolicy(endpoints.toolApproval));
  disposables.add(subscribeListInvalidation({ ...lists, registry, changes }));
  const serverKeys = createServerKeys(registry, naming);
  const overrides = createOverrides({ store: primary.overrides, keyring, changes, clock, log });
  const stored = createStoredServers({
    ...{ servers: primary.servers, variables: primary.variables },
    ...{ keyring, changes, clock, random, log },
  });
  const fileLayers = () => ({
    settings: configuration.current(),
    isBuiltIn: configuration.isBuiltIn(),
    definitions: configuration.definitions(),
    // A changed file can define another server under the same name, so the inspections start over.
    discoveredSignIns: new Set<string>(),
  });
  registry.update({ ...fileLayers(), overrides: 'unknown' });
  configuration.onChange((settings) => {
    egress.update(settings);
    registry.update(fileLayers());
  });
  const overridesSubscription = overrides.subscribe((all) => registry.update({ overrides: all }));
  disposables.add(() => overridesSubscription.stop());
  const storedSubscription = stored.subscribe((servers) => registry.update({ stored: servers }));
  disposables.add(() => storedSubscription.stop());
  await Promise.all([overridesSubscription.ready, storedSubscription.ready]);

  // The end of sessions and grants.
  const signOuts = subscribeToSignOuts({
    ...{ users, changes, clock },
    onSignedOut(principal) {
      void obo.exchanger.evictPrincipal(principal);
      void connections.dropForPrincipal(principal);
    },
  });
  disposables.add(() => signOuts.stop());
  const invalidateUserState = async (serverId: string, principal: string) => {
    invalidateUserLists(lists, serverId, principal);
    await connections.dropForServer(serverId, principal);
  };
  disposables.add(
    subscribeToGrantChanges({
      ...{ vault, clock },
      store: primary.credentials,
      onGrantEnded: (serverId, principal) => void invalidateUserState(serverId, principal),
    }),
  );

  // Calls.
  const approvals = createApprovals({ cache: cache('approvals'), leases, keyring, clock, random, audit });
  const callParts = {
    requirePermission: () => roles.requirePermission,
    canSee: acl.canUse,
    oboTrust: obo.trust,
    ...{ policy, approvals, audit, registry, credentials, appTokens, vault, connections, catalog },
    ...{ listAll, clock, random, serverSubscriptions },
    arguments: createArgumentValidator({ clock, log }),
  };
  const openParts: Pick<ReinitParts, 'open' | 'openWithoutSession'> = {
    open,
    openWithoutSession: (target, options) => openWithoutSession(target, options, upstreamParts),
  };

  // Drafts and sign-in at servers.
  const holderParts = { users, variables: variableCache };
  const readValues: OAuthServicesParts['servers']['readHolderValues'] = (server, tenant, holder) =>
    readHolderValues(holderParts, server, tenant, holder);
  const retiring = createRetiringServers();
  const grants = createServerGrants({
    ...{ vault, retiring, credentials: primary.credentials },
    ...{ flows: primary.oauthFlows, clients: primary.oauthClients },
  });
  const drafts = createServerDrafts({
    ...{ store: primary.drafts, servers: primary.servers, grants, keyring, clock, random },
    requirePermission: () => roles.requirePermission,
  });
  disposables.add(setPeriodic(DRAFT_SWEEP_MS, clock, () => drafts.sweep()));
  const oauth = composeOAuth(context, {
    ...{ vault, registry, retiring, drafts, audit },
    readHolderValues: readValues,
    probe: createGrantProbe({ ...callParts, ...openParts }),
    clientUrls: parts.clientUrls,
  });

  // Management.
  const refreshRegistry = async () => {
    await Promise.all([overridesSubscription.refresh(), storedSubscription.refresh()]);
  };
  const definitionParts = {
    ...{ acl, roles, registry, stored, audit, users, grants, refreshRegistry },
    oboTargets: obo.targets,
    isPlainHttpAllowed: (url: string) =>
      allowsPlainHttp(configuration.current().mcpSettings.allowedDomains ?? [], url),
  };
  const configure: ConfigureParts & ViewParts = {
    ...{ ...definitionParts, clock, random },
    // The leases of the primary store, so that servers can be defined and shared during a Redis outage.
    leases: primary.leases,
    checkAddress: (url) => egress.checkUserServerUrl(url),
    inspect: createInspectDefinition({ open, listAll }),
    draftParts: { drafts, oauth, records: primary.credentials, flows: primary.oauthFlows },
    maxPerUser: env.MCP_SERVERS_PER_USER,
  };
  const overrideParts: OverrideParts & ListAllServersParts = {
    ...definitionParts,
    overrides,
    changes,
    variables: primary.variables,
  };
  const reinit: ReinitParts = {
    ...{ ...callParts, ...openParts, inspectionScheduler },
    signInStarter: createSignInStarter(oauth.flows),
  };
  const status: StatusParts = { ...callParts, inspectionScheduler, variables, flows: oauth.flows };
  const discovery: DiscoverParts = {
    ...{ ...configure, open, listAll, drafts, credentials, records: primary.credentials },
    ...{ flows: oauth.flows, attempts: coordination.attempts },
  };
  const { discovery: oauthDiscovery, clients } = oauth;
  const diagnosis: DiagnoseParts = {
    ...{ ...callParts, log, variables, open, credentialSelector, oboTargets: obo.targets },
    getManageBits: (principal, server) => acl.getManageBits(principal, server),
    network: createDiagnosisNetwork(egress),
    signIn: { servers: { readHolderValues: readValues }, discovery: oauthDiscovery, clients },
  };
  return {
    ...{ callParts, connections, registry, inspectionScheduler, variables, drafts, oauth },
    ...{ itemLists, listSubscriptions, listChanges, serverKeys, naming, invalidateUserState },
    ...{ configure, overrideParts, reinit, status, discovery, diagnosis, subjects: obo.subjects },
  };
}
