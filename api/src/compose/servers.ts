import type { Env, EnvRecord } from '@behalf/contracts';
import {
  type Approvals,
  type CallParts,
  type ConfigureParts,
  type ConnectionManager,
  type CredentialVault,
  type DiagnoseParts,
  type DiscoverParts,
  type ItemListCache,
  type ListAllServersParts,
  type ListChanges,
  type ListSubscriptions,
  type ListToolsParts,
  type Log,
  type Naming,
  type OAuthServices,
  type OverrideParts,
  type Registry,
  type ReinitParts,
  type ServerDrafts,
  type ServerKeys,
  type SignInStarter,
  type StatusParts,
  type SubjectSource,
  type SubscribeParts,
  type UserVariables,
  type ViewParts,
  createApprovals,
  createArgumentValidator,
  createConnectionManager,
  createCredentials,
  createInspectDefinition,
  createInspectionScheduler,
  createListAll,
  createNaming,
  createOpenUpstream,
  createOutdatedTokenEviction,
  createOverrides,
  createRegistry,
  createRetiringServers,
  createServerDrafts,
  createServerGrants,
  createServerSubscriptions,
  createStdioLimits,
  createStoredServers,
  createToolPolicy,
  createUserVariables,
  createVariableCache,
  getAuthorizationState,
  inspectServer,
  isSignInChallenge,
  openWithoutSession,
  parseDraftName,
  probeGrant,
  readHolderValues,
  subscribeToGrantChanges,
  subscribeToSignOuts,
} from '@behalf/gateway';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import { allowsPlainHttp } from '@behalf/settings';
import type { ExchangeStats } from '../routes/ops/counters.ts';
import type { Configuration } from '../runtime/configuration.ts';
import { type Disposables, setPeriodic } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { type ReloadableNetwork, createDiagnosisNetwork } from '../runtime/network.ts';
import { version } from '../runtime/version.ts';
import type { ComposedAccess } from './access.ts';
import { composeLists } from './lists.ts';
import { type ComposeOAuthParts, composeOAuth } from './oauth.ts';
import { composeObo } from './obo.ts';
import type { Vault } from './vault.ts';

/** For how long a server is asked whether it takes what its user was just given. */
const PROBE_TIMEOUT_MS = 15_000;
/** Of drafts whose time is up. */
const SWEEP_MS = 60 * 1000;

interface ComposeServersParts {
  env: Env;
  record: EnvRecord;
  logger: Logger;
  log: Log;
  clock: Clock;
  random: Random;
  keyring: Keyring;
  configuration: Configuration;
  primary: PrimaryStore;
  coordination: CoordinationStore;
  disposables: Disposables;
  egress: ReloadableNetwork;
  access: ComposedAccess;
  baseUrl: () => string;
  addresses?: ComposeOAuthParts['addresses'];
  vault: Vault;
  exchanges: Pick<ExchangeStats, 'count'>;
}

/** What the doors need of the servers. */
export interface Servers {
  readonly callParts: CallParts &
    ListToolsParts &
    SubscribeParts & { approvals: Approvals; vault: CredentialVault };
  readonly connections: ConnectionManager;
  readonly reinit: ReinitParts;
  readonly diagnosis: DiagnoseParts;
  readonly status: StatusParts & { variables: UserVariables };
  readonly configure: ConfigureParts & ViewParts;
  readonly discoveryParts: DiscoverParts;
  readonly drafts: ServerDrafts;
  readonly registry: Registry;
  readonly itemLists: ItemListCache;
  readonly listSubscriptions: ListSubscriptions;
  /** That something may be listed differently. */
  readonly listChanges: ListChanges;
  readonly serverKeys: ServerKeys;
  readonly naming: () => Naming;
  /** Where the tokens of callers come from that are exchanged. */
  readonly subjects: Pick<SubjectSource, 'checkSubject'>;
  readonly oauth: OAuthServices;
  readonly overrideParts: OverrideParts & ListAllServersParts;
  /** What was opened or listed with a user's old values is of no use any more. */
  readonly invalidateUserState: (serverId: string, principal: string) => Promise<void>;
}

/** The second half of the list of parts: what servers there are, how they are reached, what is known of them. */
export async function composeServers(parts: ComposeServersParts): Promise<Servers> {
  const { env, record, logger, log, clock, random, keyring, configuration, primary, disposables, egress } =
    parts;
  const { audit, roles, acl } = parts.access;
  const { changes, leases, cache } = parts.coordination;
  const upstreamParts = {
    clock,
    random,
    version,
    network: egress.network,
    log,
    onStderr: (server: string, line: string) => logger.debug('A server wrote to stderr', { server, line }),
    kill: (pid: number, signal: NodeJS.Signals) => void process.kill(pid, signal),
  };
  const open = createOpenUpstream({ ...upstreamParts, limits: createStdioLimits() });
  const lists = composeLists({ clock, log, disposables });
  const { catalog, itemLists, listSubscriptions, listChanges } = lists;
  const connections = createConnectionManager({
    open: async (target, options) => {
      const upstream = await open(target, options);
      // What everybody shares is worth a stream of its own; a user's connection is asked again when it is used.
      if (options.owner === undefined) {
        const listFeed = lists.listSubscriptions.open(options.server);
        upstream.listen(({ method }) => lists.onUpstreamNotification(options.server, method), {
          onSubscribedLists: (kinds) => listFeed.setKinds(kinds),
          ...(target.type !== 'stdio' && { headers: target.headers }),
          // Ours, where there is one: a modern server is presented it with each request, and keeps nothing of the first.
          ...(target.type !== 'stdio' && target.bearer && { bearer: target.bearer }),
        });
        upstream.onClose(() => listFeed.close());
      }
      return upstream;
    },
    clock,
    random,
    limits: {
      idleTimeoutMs: env.MCP_USER_CONNECTION_IDLE_TIMEOUT,
      breakerThreshold: env.MCP_CB_MAX_FAILED_ROUNDS,
      breakerBaseMs: env.MCP_CB_BASE_BACKOFF_MS,
      breakerMaxMs: env.MCP_CB_MAX_BACKOFF_MS,
    },
  });
  const watches = createServerSubscriptions({ clock, random });
  disposables.add(() => watches.close());
  disposables.add(
    connections.onConnectionsDropped((principal, serverId) => watches.renew(principal, serverId)),
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
  const inspectionScheduler = createInspectionScheduler({
    async inspect(server, options) {
      try {
        return await inspectServer({ connections, catalog, listAll }, server, options);
      } catch (error) {
        if (isSignInChallenge(server, error)) markSignInRequired(server.name);
        throw error;
      }
    },
    clock,
    random,
    log,
  });
  disposables.add(() => inspectionScheduler.close());
  const registry = createRegistry({
    env: record,
    enforcedRestrictions: new Set(['access', 'tools', 'auth', 'toolApproval', 'sharing']),
    appBearer: (serverId, tenant) => parts.vault.appTokens.connectionBearer(serverId, tenant),
    hasFailedInspection: (server) => inspectionScheduler.getState(server).kind === 'failed',
    log,
  });
  let signIns: ReadonlySet<string> = new Set();
  /** From here on each user has a connection of their own there, with a token of their own. */
  function markSignInRequired(name: string): void {
    log('server_requires_sign_in', { server: name });
    signIns = new Set([...signIns, name]);
    registry.update({ discoveredSignIns: signIns });
  }
  const variableCache = createVariableCache({ store: primary.variables, keyring, changes, clock });
  disposables.add(() => variableCache.close());
  const variables = createUserVariables({ store: primary.variables, keyring, changes, clock });
  const obo = await composeObo({ ...parts, registry });
  // Before what gives the tokens with which sessions are ended.
  disposables.add(() => connections.close());
  const forgetTokens = createOutdatedTokenEviction(obo.exchanger);
  const credentials = createCredentials({
    variables: variableCache,
    inheritedEnv: record,
    obo: obo.tokens,
    oauth: parts.vault.oauthTokens,
    graphScopes: env.GRAPH_API_SCOPES,
  });
  disposables.add(
    registry.onChange(() => {
      const servers = registry.listAll();
      forgetTokens(servers);
      connections.update(servers);
      catalog.update(servers);
      inspectionScheduler.update(servers);
    }),
  );
  let naming = createNaming(configuration.current().mcpSettings.endpoint);
  const serverKeys = lists.subscribeChanges(registry, changes, () => naming);
  const fileState = () => ({
    settings: configuration.current(),
    isBuiltIn: configuration.isBuiltIn(),
    definitions: configuration.definitions(),
  });
  let policy = createToolPolicy(configuration.current().endpoints.toolApproval);
  const overrides = createOverrides({ store: primary.overrides, keyring, changes, clock, log });
  const stored = createStoredServers({
    ...{ servers: primary.servers, variables: primary.variables },
    ...{ keyring, changes, clock, random, log },
  });
  registry.update({ ...fileState(), overrides: 'unknown' });
  configuration.onChange((settings) => {
    policy = createToolPolicy(settings.endpoints.toolApproval);
    naming = createNaming(settings.mcpSettings.endpoint);
    egress.update(settings);
    // What was found may be another server's by now.
    signIns = new Set();
    registry.update({ ...fileState(), discoveredSignIns: signIns });
  });
  const overridesSubscription = overrides.subscribe((all) => registry.update({ overrides: all }));
  disposables.add(() => overridesSubscription.stop());
  const storedSubscription = stored.subscribe((servers) => registry.update({ stored: servers }));
  disposables.add(() => storedSubscription.stop());
  await Promise.all([overridesSubscription.ready, storedSubscription.ready]);
  const signOuts = subscribeToSignOuts({
    users: primary.users,
    changes,
    clock,
    onSignedOut(principal) {
      void obo.exchanger.evictPrincipal(principal);
      void connections.dropForPrincipal(principal);
    },
  });
  disposables.add(() => signOuts.stop());
  const invalidateUserState = async (serverId: string, principal: string) => {
    lists.invalidateUserState(serverId, principal);
    await connections.dropForServer(serverId, principal);
  };
  disposables.add(
    subscribeToGrantChanges({
      vault: parts.vault.vault,
      store: primary.credentials,
      clock,
      onGrantEnded: (serverId, principal) => void invalidateUserState(serverId, principal),
    }),
  );
  const approvals = createApprovals({ cache: cache('approvals'), leases, keyring, clock, random, audit });
  const callParts = {
    requirePermission: () => roles.requirePermission,
    canSee: acl.canUse,
    oboTrust: obo.trust,
    policy: () => policy,
    approvals,
    audit,
    registry,
    credentials,
    appTokens: parts.vault.appTokens,
    vault: parts.vault.vault,
    connections,
    catalog,
    listAll,
    clock,
    random,
    arguments: createArgumentValidator({ clock, log }),
    watches,
  };
  const openParts = {
    open,
    openWithoutSession: (target, options) => openWithoutSession(target, options, upstreamParts),
  } satisfies Pick<ReinitParts, 'open' | 'openWithoutSession'>;
  const { vault } = parts.vault;
  const valuesOf: ComposeOAuthParts['valuesOf'] = (server, tenant, holder) =>
    readHolderValues({ users: primary.users, variables: variableCache }, server, tenant, holder);
  const retiring = createRetiringServers();
  const grants = createServerGrants({
    ...{ vault, retiring, credentials: primary.credentials },
    ...{ flows: primary.oauthFlows, clients: primary.oauthClients },
  });
  const drafts = createServerDrafts({
    ...{ store: primary.drafts, servers: primary.servers, grants, keyring, clock, random },
    requirePermission: () => roles.requirePermission,
  });
  disposables.add(setPeriodic(SWEEP_MS, clock, () => drafts.sweep()));
  const oauth = composeOAuth({
    ...parts,
    ...{ vault, registry, retiring, drafts, audit, valuesOf },
    probe(server, principal, token) {
      // The registry knows no draft, and nobody but its user has one.
      const isOwn = server.tenant === principal.tenant && server.author === principal.userId;
      const draft = { registry: { find: () => server }, canSee: () => isOwn };
      const probeParts = {
        ...callParts,
        ...openParts,
        ...(parseDraftName(server.name) !== undefined && draft),
      };
      return probeGrant(probeParts, server, principal, token, AbortSignal.timeout(PROBE_TIMEOUT_MS));
    },
  });
  parts.vault.contexts.servers = oauth.contexts;
  parts.vault.contexts.apps = oauth.appGrants;
  const signInStarter: SignInStarter = {
    async start(server, principal, { reason, detail }) {
      const widenedScopes = reason === 'insufficient_scope' ? detail.scopes : undefined;
      return (await oauth.flows.start(server, principal, { widenedScopes, claims: detail.claims })).flow;
    },
  };
  const definitionParts = {
    oboTargets: obo.targets,
    isPlainHttpAllowed: (url: string) =>
      allowsPlainHttp(configuration.current().mcpSettings.allowedDomains ?? [], url),
  };
  const refreshRegistry = async () => {
    await Promise.all([overridesSubscription.refresh(), storedSubscription.refresh()]);
  };
  const configure: ConfigureParts & ViewParts = {
    ...{ acl, roles, registry, stored, audit, clock, random, refreshRegistry: refreshRegistry },
    // Those of the store that is written: defining and sharing servers needs no Redis.
    leases: primary.leases,
    grants,
    users: primary.users,
    ...definitionParts,
    checkAddress: (url) => egress.checkUserServerUrl(url),
    inspect: createInspectDefinition({ open, listAll }),
    draftParts: { drafts, oauth, records: primary.credentials, flows: primary.oauthFlows },
    maxPerUser: env.MCP_SERVERS_PER_USER,
  };
  return {
    callParts,
    connections,
    registry,
    ...{ itemLists, listSubscriptions, listChanges, serverKeys, naming: () => naming },
    configure,
    discoveryParts: {
      ...configure,
      ...{ open, listAll, drafts, credentials, records: primary.credentials },
      ...{ flows: oauth.flows, attempts: parts.coordination.attempts },
    },
    drafts,
    overrideParts: {
      ...definitionParts,
      ...{ overrides, registry, stored, audit, acl, roles, changes, refreshRegistry: refreshRegistry },
      ...{ users: primary.users, variables: primary.variables, grants },
    },
    reinit: {
      ...callParts,
      ...openParts,
      inspectionScheduler,
      signInStarter: signInStarter,
    },
    diagnosis: {
      ...callParts,
      ...{ log, variables, open },
      getManageBits: (principal, server) => acl.getManageBits(principal, server),
      network: createDiagnosisNetwork(egress),
      oboTargets: obo.targets,
      credentialSelector: parts.vault.selector,
      signIn: { servers: { readHolderValues: valuesOf }, discovery: oauth.discovery, clients: oauth.clients },
    },
    oauth,
    subjects: obo.subjects,
    status: {
      ...callParts,
      ...{ inspectionScheduler, variables },
      readAuthorizationState: (server, principal) =>
        getAuthorizationState({ oauth, vault }, server, principal),
    },
    invalidateUserState,
  };
}
