// The public surface of the gateway, grouped by folder. It exports only what other packages use.

// Calls, lists, reads and subscriptions: the operations of the adapters.
export { createArgumentValidator } from './toolcall/arguments.ts';
export { authorityOf } from './toolcall/audit.ts';
export { type CallParts, type ToolInvocation, callTool } from './toolcall/callTool.ts';
export { type SendParts, hasUsableCredential } from './toolcall/credential.ts';
export { DIALOGUE_METHODS } from './toolcall/dialogue.ts';
export { requestFields } from './toolcall/inbound.ts';
export type { EntryPoint, Inbound, InboundPeer, RequestFields, TraceContext } from './toolcall/inbound.ts';
export {
  getServerInstructions,
  inspectServer,
  listServer,
  listServerTools,
  listTools,
  listToolsOfServers,
} from './toolcall/list.ts';
export type { ListServerParts, ListToolsParts, SingleServerTools } from './toolcall/list.ts';
export {
  endpointServers,
  listEndpointItems,
  listEndpointTools,
  searchEndpointTools,
} from './toolcall/listEndpoint.ts';
export type {
  EndpointList,
  EndpointParts,
  EndpointSelector,
  EndpointTool,
  MissingServer,
} from './toolcall/listEndpoint.ts';
export { OPENID_SIGN_IN_PATH, connectPagePath } from './toolcall/outcome.ts';
export type { CallOutcome, ServerOutcome } from './toolcall/outcome.ts';
export { type ReadParts, completeServer, readServer } from './toolcall/read.ts';
export { type RoutedName, routePrompt, routeTool } from './toolcall/resolveName.ts';
export { routeResource } from './toolcall/resolveResource.ts';
export { shapeResult } from './toolcall/shapeResult.ts';
export { cannotSubscribe, requireResourceUpdates, subscribeToServer } from './toolcall/subscribe.ts';
export type { SubscribeParts } from './toolcall/subscribe.ts';
export { sendTaskRequest } from './toolcall/tasks.ts';

// Tool lists, public names, search, policy and approvals.
export { type Approvals, type PendingApproval, createApprovals } from './tools/approvals.ts';
export { type Catalog, type CatalogTool, createCatalog } from './tools/catalog.ts';
export { createListChanges, createListSubscriptions, listKinds } from './tools/changes.ts';
export {
  invalidateUserLists,
  openWithListUpdates,
  subscribeListInvalidation,
} from './tools/listInvalidation.ts';
export type { ListChanges, ListSubscriptions } from './tools/changes.ts';
export { type ItemListCache, createItemListCache } from './tools/itemLists.ts';
export type { ServerTools } from './tools/listForUser.ts';
export { type Naming, type ServerKeys, createNaming, createServerKeys } from './tools/names.ts';
export { createToolPolicy } from './tools/policy.ts';
export { type ToolSearch, createToolSearch } from './tools/search/toolSearch.ts';

// Connections to servers.
export { createConnectionManager } from './connections/connectionManager.ts';
export type { ConnectionManager, ServerConnections } from './connections/connectionManager.ts';

// The MCP client.
export { createStdioLimits } from './upstream/channel/stdioTransport.ts';
export { ClientRpcError, filterCapabilities, isServerRequestAllowed } from './upstream/dialogue.ts';
export { openWithoutSession } from './upstream/http/negotiate.ts';
export { createListAll } from './upstream/listAll.ts';
export { createOpenUpstream } from './upstream/openUpstream.ts';
export type { RemoteTarget } from './upstream/target.ts';
export { hasTasksCapability, tasksCapability } from './upstream/upstream.ts';
export type {
  Era,
  JsonObject,
  ListKind,
  Log,
  Network,
  StartedTask,
  TaskMethod,
  UpstreamResponse,
} from './upstream/upstream.ts';
export type { ReadNetworkError } from './upstream/upstreamError.ts';

// Change notifications of servers.
export { type ServerSubscription, createServerSubscriptions } from './subscriptions/serverSubscriptions.ts';

// Server definitions and their administration.
export { createServer } from './servers/create.ts';
export { listDeclaredVariables, mayRequireOAuth, parseDraftName } from './definitions/definition.ts';
export type { ServerSnapshot, UserServer } from './definitions/definition.ts';
export { type DiscoverParts, discoverTools } from './servers/discoverTools.ts';
export { type ServerDrafts, createServerDrafts } from './servers/drafts.ts';
export { type ConfigureParts, parseIfMatch, toEtag } from './servers/editing.ts';
export { type InspectionScheduler, createInspectionScheduler } from './servers/inspection.ts';
export { type OverrideParts, deleteOverride, getOverride, putOverride } from './servers/overrideServer.ts';
export { createOverrides } from './servers/overrides.ts';
export { createInspectDefinition } from './servers/probe.ts';
export { type Registry, createRegistry } from './servers/registry.ts';
export { createGrantProbe } from './servers/reinit/discovery.ts';
export type { ReinitResult } from './servers/reinit/outcome.ts';
export { type ReinitParts, createSignInStarter, reinitialize } from './servers/reinit/reinitialize.ts';
export { removeServer } from './servers/remove.ts';
export { getServerStatus, getServerStatuses } from './servers/status.ts';
export type { StatusParts } from './servers/status.ts';
export { createStoredServers } from './servers/stored.ts';
export { type ServerChange, changeServer, checkServerDefinition } from './servers/update.ts';
export { listAllServers, listServers, viewServer } from './servers/view.ts';
export type { ListAllServersParts, ViewParts } from './servers/view.ts';

// Credentials that the gateway presents to servers.
export { credentialHolder, userIdOfHolder } from './principal/credentialHolder.ts';
export { type CredentialSelector, createCredentialSelector } from './credentials/credentialSelector.ts';
export { createCredentials, userFieldsOf } from './credentials/credentials.ts';
export { subscribeToGrantChanges } from './credentials/grantChanges.ts';
export { asDraft, buildClientDocument } from './credentials/oauth/clientDocument.ts';
export { createDpop } from './credentials/oauth/dpop.ts';
export type { GrantContext, GrantContexts } from './credentials/oauth/grantContext.ts';
export type { IssuerSettings } from './credentials/oauth/issuers.ts';
export type { OAuthEgress } from './credentials/oauth/network.ts';
export { createAppTokens, createOAuthTokens } from './credentials/oauthTokens.ts';
export type { AppTokens, OAuthTokens } from './credentials/oauthTokens.ts';
export { type OboTokenParts, type OboTokens, createOboTokens } from './credentials/obo/bearer.ts';
export { createOutdatedTokenEviction } from './credentials/obo/cache.ts';
export { createExchangeAudit } from './credentials/obo/exchangeAudit.ts';
export { type Exchanger, createExchanger } from './credentials/obo/exchanger.ts';
export { createBoundKeys } from './credentials/obo/key.ts';
export { type PendingClaims, createPendingClaims } from './credentials/obo/pendingClaims.ts';
export { createExchangeProviders } from './credentials/obo/providers/exchangeProviders.ts';
export { ENTERPRISE_MANAGED } from './credentials/obo/providers/idJag.ts';
export { createResourceMetadata } from './credentials/obo/resourceMetadata.ts';
export type { SubjectSource } from './credentials/obo/subject.ts';
export { type LoginSource, createSubjectSource } from './credentials/obo/subjectSource.ts';
export { SignInRequired } from './credentials/signInRequired.ts';
export type { CallbackResult } from './credentials/signin/callback.ts';
export { createOAuthServices } from './credentials/signin/createOAuthServices.ts';
export type { OAuthServices, OAuthServicesParts } from './credentials/signin/createOAuthServices.ts';
export type { OpenFlowResult } from './credentials/signin/open.ts';
export { createRetiringServers, createServerGrants } from './credentials/signin/serverGrants.ts';
export type { RetiringServers } from './credentials/signin/serverGrants.ts';
export { readHolderValues } from './credentials/variables/templateValues.ts';
export { type UserVariables, createUserVariables } from './credentials/variables/userVariables.ts';
export { createVariableCache, parseVariablesKey } from './credentials/variables/variableCache.ts';
export { createVault } from './credentials/vault/createVault.ts';
export type { AppGrants, CredentialSummary, CredentialVault, VaultEvent } from './credentials/vault/vault.ts';

// The caller.
export { DEFAULT_TENANT, isAdmin, isOfTenant, principalKey, toPrincipal } from './principal/principal.ts';
export type { Principal, UserPrincipal } from './principal/principal.ts';

// Authentication of callers. `openid` and `authorizationServer` are separate entry points of the package.
export { LOCAL_ISSUER, createAccounts, createPasswords, normalizeEmail } from './identity/accounts.ts';
export type { Accounts, Passwords } from './identity/accounts.ts';
export { API_KEY_PREFIX, type ApiKeys, createApiKeys } from './identity/apiKeys.ts';
export { type CallerCache, type ResolvedCaller, createCallerCache } from './identity/callerCache.ts';
export type { FederatedTokens } from './identity/openid/loginTokens.ts';
export type { FinishedLogin, OpenIdLogin } from './identity/openid/openIdLogin.ts';
export type { OpenIdSettings } from './identity/openid/provider.ts';
export type { Provisioning } from './identity/openid/provisioning.ts';
export { toReturnPath } from './identity/openid/returnPath.ts';
export type { VerifiedToken } from './identity/openid/verifiedIdentity.ts';
export { type PasswordSignIn, createPasswordSignIn, networkOf } from './identity/passwordSignIn.ts';
export { createRevocationMonitor, subscribeToSignOuts } from './identity/revocationMonitor.ts';
export type { RevocationMonitor } from './identity/revocationMonitor.ts';
export { type Setup, createSetup, isStoreKeyValid } from './identity/setup.ts';
export { type IssuedSession, type SignInSessions, createSignInSessions } from './identity/signInSessions.ts';

// Roles, permissions and sharing.
export { type Acl, createAcl } from './access/acl.ts';
export { findServer, listAllowedServers } from './access/allowedServer.ts';
export type { AccessParts, AllowedServer, ServerLookupParts } from './access/allowedServer.ts';
export { type OboTargets, createOboTargets } from './access/oboTargets.ts';
export { type OboTrust, type OboTrustParts, createOboTrust } from './access/oboTrust.ts';
export { type RoleAdmin, backfillRoles, createRoleAdmin } from './access/roleAdmin.ts';
export { createRoles } from './access/roles.ts';
export type { ConfiguredPermissions, RequirePermission, Role, Roles } from './access/roles.ts';
export {
  getManagedServer,
  getServerSharing,
  listManageBits,
  searchPrincipals,
  shareServer,
} from './access/shareServer.ts';
export type { ManageParts, SearchParts, ShareParts } from './access/shareServer.ts';
export { type UserAdmin, createUserAdmin } from './access/userAdmin.ts';

// Blocks and sets.
export { checkBlocks, checkSet } from './blocks/check.ts';
export { changeBlock, changeSet, createBlock, createSet } from './blocks/edit.ts';
export { type BlockParts, findBlockToRun, runBlock } from './blocks/runBlock.ts';
export type { RunListener } from './blocks/runJob.ts';
export type { MeterStep, SetParts } from './blocks/runs.ts';
export { createSavedCollection } from './blocks/saved.ts';
export { type SetRuns, type StartedRun, createSetRuns } from './blocks/setRuns.ts';
export { createSavedBlocks, createSavedSets, createSealedRuns } from './blocks/store.ts';
export { listBlocks, listSets, viewBlock, viewSet } from './blocks/view.ts';

// Stored chats.
export { type Conversations, createConversations } from './conversations/conversations.ts';

// The audit log.
export { type Audit, type AuditActor, type AuditEvent, actorOf } from './audit/audit.ts';
export { type AuditLog, createAuditLog } from './audit/auditLog.ts';
export { type AuditReport, sweepAudit, verifyAudit } from './audit/integrity.ts';
export { type AuditReadParts, exportAudit, queryAudit } from './audit/readAudit.ts';
export { type AuditDetails, type AuditedResult, withAudit } from './audit/withAudit.ts';

// Diagnosis of a server.
export { diagnose } from './diagnose/diagnose.ts';
export type { DiagnoseParts, DiagnosisNetwork, NetworkProblem } from './diagnose/diagnose.ts';

// Leases between replicas.
export { createReplicatedCache } from './replication/replicatedCache.ts';
export { acquireLease, roleLeaseKey, withMaintenanceLease } from './replication/withLease.ts';
export type { ActiveLease, LeaseParts } from './replication/withLease.ts';

// Errors.
export { GatewayError, type SignInRequirement } from './errors/gatewayError.ts';
