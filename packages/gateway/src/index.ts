export { actorOf, type Audit, type AuditActor, type AuditAuthority, type AuditEvent } from './audit/audit.ts';
export { createAuditLog, type AuditLog, type AuditLogParts, type AuditStats } from './audit/auditLog.ts';
export { exportAudit } from './audit/readAudit.ts';
export { queryAudit, type AuditQueryResult } from './audit/readAudit.ts';
export type { AuditEventFilters, AuditReadParts } from './audit/readAudit.ts';
export { sweepAudit } from './audit/integrity.ts';
export { verifyAudit, type AuditProblem, type AuditReport } from './audit/integrity.ts';
export { checkBlocks, checkSet } from './blocks/check.ts';
export { changeBlock, changeSet, createBlock, createSet } from './blocks/edit.ts';
export { type BlockParts, findBlockToRun, runBlock } from './blocks/runBlock.ts';
export type { RunListener } from './blocks/runJob.ts';
export type { MeterStep, SetParts } from './blocks/runs.ts';
export { createSavedCollection } from './blocks/saved.ts';
export { type SetRuns, type StartedRun, createSetRuns } from './blocks/setRuns.ts';
export { createSavedBlocks, createSavedSets, createSealedRuns } from './blocks/store.ts';
export { listBlocks, listSets, viewBlock, viewSet } from './blocks/view.ts';
export { requestFields } from './toolcall/inbound.ts';
export { createCatalog, type Catalog, type CatalogTool, type ToolList } from './tools/catalog.ts';
export {
  createListAll,
  type ListAll,
  type ItemList,
  type ListLimits,
  type ListMethod,
} from './upstream/listAll.ts';
export type { ServerTools } from './tools/listForUser.ts';
export { createListSubscriptions, type ListSubscriptions } from './tools/changes.ts';
export { createItemListCache, type ItemListCache } from './tools/itemLists.ts';
export { createListChanges, listKinds, type ListChange, type ListChanges } from './tools/changes.ts';
export { createNaming, type Naming } from './tools/names.ts';
export { createToolSearch, type ToolSearch } from './tools/search/toolSearch.ts';
export { createServerKeys, type ServerKeys } from './tools/names.ts';
export { changeServer } from './servers/update.ts';
export { checkServerDefinition, type ServerCheckInput } from './servers/update.ts';
export { createServer } from './servers/create.ts';
export { toEtag, parseIfMatch } from './servers/editing.ts';
export { createInspectDefinition } from './servers/probe.ts';
export type { ServerChange } from './servers/update.ts';
export { listAllServers, type ListAllServersParts } from './servers/view.ts';
export { createOverrides, type Overrides } from './servers/overrides.ts';
export { deleteOverride, getOverride, putOverride, type OverrideParts } from './servers/overrideServer.ts';
export type { ConfigureParts } from './servers/editing.ts';
export { removeServer } from './servers/remove.ts';
export { listServers, viewServer, type ViewParts } from './servers/view.ts';
export {
  createConnectionManager,
  type ConnectionLimits,
  type ConnectionManager,
  type ServerConnections,
} from './connections/connectionManager.ts';
export type { Conversations } from './conversations/conversations.ts';
export { createConversations, type ConversationParts } from './conversations/conversations.ts';
export { appCredentialKey, createAppTokens, type AppTokens } from './credentials/oauthTokens.ts';
export { createCredentialSelector, type CredentialSelector } from './credentials/credentialSelector.ts';
export type { Credential } from './credentials/credentials.ts';
export { credentialHolder, userIdOfHolder } from './credentials/credentialKeys.ts';
export { createCredentials, userFieldsOf, type Credentials } from './credentials/credentials.ts';
export {
  createPendingClaims,
  type PendingClaimParts,
  type PendingClaims,
} from './credentials/obo/pendingClaims.ts';
export { createExchanger, type ExchangeEvent, type ExchangerParts } from './credentials/obo/exchanger.ts';
export type { Exchanger } from './credentials/obo/exchanger.ts';
export type {
  ExchangedToken,
  ExchangeProvider,
  ExchangeRequest,
} from './credentials/obo/exchangeProvider.ts';
export { ExchangeFault } from './credentials/obo/exchangeProvider.ts';
export { createOboTokens, type OboTokenParts, type OboTokens } from './credentials/obo/bearer.ts';
export {
  createExchangeProviders,
  type ExchangeProviders,
} from './credentials/obo/providers/exchangeProviders.ts';
export { createDpop, type Dpop } from './credentials/oauth/dpop.ts';
export { createBoundKeys, type BoundKeys } from './credentials/obo/key.ts';
export { createResourceMetadata, type ResourceMetadataParts } from './credentials/obo/resourceMetadata.ts';
export { createOutdatedTokenEviction } from './credentials/obo/cache.ts';
export { createExchangeAudit } from './credentials/obo/exchangeAudit.ts';
export type { Subject, SubjectSource } from './credentials/obo/subject.ts';
export {
  createSubjectSource,
  type LoginSource,
  type SubjectSourceParts,
} from './credentials/obo/subjectSource.ts';
export type { GrantContext, GrantContexts } from './credentials/oauth/grantContext.ts';
export {
  createOAuthServices,
  type OAuthServices,
  type OAuthServicesParts,
} from './credentials/signin/createOAuthServices.ts';
export { createRetiringServers, type RetiringServers } from './credentials/signin/serverGrants.ts';
export { createServerGrants, type ServerGrants } from './credentials/signin/serverGrants.ts';
export type { OAuthFlows } from './credentials/signin/createOAuthServices.ts';
export type { CallbackResult } from './credentials/signin/callback.ts';
export type { ProbeResult } from './credentials/signin/flow.ts';
export type { OpenFlowResult } from './credentials/signin/open.ts';
export type { StartedFlow, StartOptions } from './credentials/signin/start.ts';
export type { IssuerSettings } from './credentials/oauth/issuers.ts';
export type { OAuthEgress } from './credentials/oauth/network.ts';
export { asDraft } from './credentials/oauth/clientDocument.ts';
export { buildClientDocument } from './credentials/oauth/clientDocument.ts';
export {
  createOAuthTokens,
  DEFAULT_LABEL,
  userCredentialKey,
  type OAuthTokens,
} from './credentials/oauthTokens.ts';
export type { SignInReason } from './credentials/signInRequired.ts';
export { SignInRequired } from './credentials/signInRequired.ts';
export { requestTokens, type OAuthTokenRequest } from './credentials/oauth/tokenEndpoint.ts';
export { revokeTokens, type RevocationRequest } from './credentials/oauth/revocation.ts';
export { createVault } from './credentials/vault/createVault.ts';
export {
  checkTimings,
  scaledTimings,
  vaultTimings,
  type VaultTimings,
} from './credentials/vault/createVault.ts';
export type {
  AppGrant,
  AppGrants,
  RefreshOutcome,
  VaultEvent,
  VaultParts,
} from './credentials/vault/vault.ts';
export type {
  CredentialSummary,
  CredentialVault,
  VaultToken,
  TokenOutcome,
} from './credentials/vault/vault.ts';
export { readHolderValues } from './credentials/variables/templateValues.ts';
export { subscribeToGrantChanges } from './credentials/grantChanges.ts';
export { createUserVariables, type UserVariables } from './credentials/variables/userVariables.ts';
export {
  createVariableCache,
  parseVariablesKey,
  type VariableCache,
} from './credentials/variables/variableCache.ts';
export { diagnose, type DiagnosisInbound } from './diagnose/diagnose.ts';
export type { DiagnoseParts, DiagnosisNetwork, NetworkProblem } from './diagnose/diagnose.ts';
export { discoverTools } from './servers/discoverTools.ts';
export { parseDraftName } from './servers/definition.ts';
export { createServerDrafts, type ServerDrafts } from './servers/drafts.ts';
export type { DiscoverParts } from './servers/discoverTools.ts';
export { GatewayError, type GatewayErrorOptions, type SignInRequirement } from './errors/gatewayError.ts';
export { createAccounts, LOCAL_ISSUER, normalizeEmail, type Accounts } from './identity/accounts.ts';
export { DEFAULT_TENANT } from './principal/principal.ts';
export { isStoreKeyValid } from './identity/setup.ts';
export type { ClientGrants } from './identity/authorizationServer/clientGrants.ts';
export type { FederatedTokens } from './identity/openid/loginTokens.ts';
export type { FinishedLogin, OpenIdLogin } from './identity/openid/openIdLogin.ts';
export type { OpenIdSettings } from './identity/openid/provider.ts';
export type { Provisioning } from './identity/openid/provisioning.ts';
export { toReturnPath } from './identity/openid/returnPath.ts';
export type { VerifiedToken } from './identity/openid/verifiedIdentity.ts';
export { createPasswords, type Passwords } from './identity/accounts.ts';
export {
  createSignInSessions,
  SESSION_LIFETIME_MS,
  type IssuedSession,
  type SignInSessions,
  type SignInDetails,
} from './identity/signInSessions.ts';
export { createCallerCache, type CallerCache, type ResolvedCaller } from './identity/callerCache.ts';
export { API_KEY_PREFIX, createApiKeys, type ApiKeys } from './identity/apiKeys.ts';
export { createRevocationMonitor, type RevocationMonitor } from './identity/revocationMonitor.ts';
export { subscribeToSignOuts } from './identity/revocationMonitor.ts';
export { createSetup, SETUP_LIFETIME_MS, type Setup } from './identity/setup.ts';
export { createPasswordSignIn, networkOf, type PasswordSignIn } from './identity/passwordSignIn.ts';
export {
  createApprovals,
  APPROVAL_LIFETIME_MS,
  type Approvals,
  type ApprovalState,
  type PendingApproval,
} from './tools/approvals.ts';
export { enforceApproval, type EnforceParts } from './tools/approvals.ts';
export { isToolAvailable, decideTool } from './tools/policy.ts';
export { createToolPolicy, type ToolPolicy, type ToolDecision } from './tools/policy.ts';
export { isOfTenant } from './principal/principal.ts';
export {
  isAdmin,
  principalKey,
  toPrincipal,
  type Principal,
  type ServicePrincipal,
  type UserPrincipal,
} from './principal/principal.ts';
export { createAcl, type Acl } from './access/acl.ts';
export {
  acquireLease,
  withMaintenanceLease,
  roleLeaseKey,
  type ActiveLease,
  type LeaseParts,
} from './replication/withLease.ts';
export { createReplicatedCache } from './replication/replicatedCache.ts';
export { backfillRoles } from './access/roleAdmin.ts';
export { listManageBits, getManagedServer, type ManageParts } from './access/shareServer.ts';
export { createOboTargets, type OboCandidate, type OboTargets } from './access/oboTargets.ts';
export { createOboTrust, type OboTrust, type OboTrustParts } from './access/oboTrust.ts';
export { withAudit, type AuditedResult, type AuditDetails } from './audit/withAudit.ts';
export { createRoleAdmin, type NewRole, type RoleAdmin, type RoleChange } from './access/roleAdmin.ts';
export { createRoles, type Role, type Roles } from './access/roles.ts';
export type { ConfiguredPermissions } from './access/roles.ts';
export { searchPrincipals, type SearchParts } from './access/shareServer.ts';
export { shareServer, getServerSharing, type ShareParts } from './access/shareServer.ts';
export { createUserAdmin, type UserAdmin } from './access/userAdmin.ts';
export type { RequirePermission } from './access/roles.ts';
export { isSignInChallenge } from './servers/definition.ts';
export { mayRequireOAuth } from './servers/definition.ts';
export {
  createInspectionScheduler,
  type InspectionScheduler,
  type InspectionState,
} from './servers/inspection.ts';
export { createRegistry, type Registry } from './servers/registry.ts';
export { createStoredServers, type StoredServers } from './servers/stored.ts';
export { listDeclaredVariables, needsOAuth } from './servers/definition.ts';
export type { AppServer, ServerSnapshot, UserServer } from './servers/definition.ts';
export {
  reinitialize,
  type ReinitOptions,
  type ReinitParts,
  type SignInStarter,
} from './servers/reinit/reinitialize.ts';
export type { ReinitResult } from './servers/reinit/outcome.ts';
export { getAuthorizationState } from './servers/status.ts';
export { probeGrant } from './servers/reinit/discovery.ts';
export { getServerStatus, getServerStatuses, type StatusParts } from './servers/status.ts';
export { shapeResult } from './toolcall/shapeResult.ts';
export { sendTaskRequest, type TaskRequest, type TaskParts } from './toolcall/tasks.ts';
export { authorityOf } from './toolcall/audit.ts';
export type { SendParts } from './toolcall/credential.ts';
export type { EntryPoint, Inbound, InboundPeer, RequestFields, TraceContext } from './toolcall/inbound.ts';
export { callTool, type CallParts, type ToolInvocation } from './toolcall/callTool.ts';
export type { AccessParts, AllowedServer } from './access/allowedServer.ts';
export { completeServer, type CompletionRequest } from './toolcall/read.ts';
export { DIALOGUE_METHODS } from './toolcall/dialogue.ts';
export {
  endpointServers,
  type EndpointSelector,
  type EndpointParts,
  type MissingServer,
} from './toolcall/listEndpoint.ts';
export { findServer, listAllowedServers, type ServerLookupParts } from './access/allowedServer.ts';
export { inspectServer } from './toolcall/list.ts';
export {
  listEndpointItems,
  listEndpointTools,
  type EndpointList,
  type EndpointTool,
} from './toolcall/listEndpoint.ts';
export { listServer, type ListServerParts } from './toolcall/list.ts';
export { listServerTools, type SingleServerTools } from './toolcall/list.ts';
export { listTools, listToolsOfServers, type ListToolsParts } from './toolcall/list.ts';
export { readServer, type ReadRequest, type ReadParts } from './toolcall/read.ts';
export { routePrompt, routeTool, type RoutedName, type RoutedTool } from './toolcall/resolveName.ts';
export { routeResource } from './toolcall/resolveResource.ts';
export { searchEndpointTools, type ToolSearchParts } from './toolcall/listEndpoint.ts';
export { getServerInstructions, type ServerInstructions } from './toolcall/list.ts';
export {
  connectPagePath,
  OPENID_SIGN_IN_PATH,
  type CallOutcome,
  type ServerOutcome,
} from './toolcall/outcome.ts';
export { createArgumentValidator, type ArgumentValidator } from './toolcall/arguments.ts';
export { hasUsableCredential } from './toolcall/credential.ts';
export { cannotSubscribe } from './toolcall/subscribe.ts';
export { requireResourceUpdates } from './toolcall/subscribe.ts';
export { subscribeToServer, type SubscribeParts } from './toolcall/subscribe.ts';
export {
  createServerSubscriptions,
  type ServerSubscription,
  type ServerSubscriptions,
} from './subscriptions/serverSubscriptions.ts';
export { createStdioLimits, type StdioLimits } from './upstream/channel/stdioTransport.ts';
export { openWithoutSession } from './upstream/http/negotiate.ts';
export { filterCapabilities, isServerRequestAllowed, ClientRpcError } from './upstream/dialogue.ts';
export { createOpenUpstream, type OpenUpstream } from './upstream/openUpstream.ts';
export type { Log, Network, UpstreamParts } from './upstream/upstream.ts';
export type { OpenOptions, RemoteTarget, StdioTarget, UpstreamTarget } from './upstream/target.ts';
export { ENTERPRISE_MANAGED } from './credentials/obo/providers/idJag.ts';
export { hasTasksCapability, tasksCapability, type TaskMethod } from './upstream/upstream.ts';
export type {
  UpstreamResponse,
  StartedTask,
  Era,
  JsonObject,
  ListKind,
  Upstream,
} from './upstream/upstream.ts';
export { UpstreamError, type ReadNetworkError } from './upstream/upstreamError.ts';
