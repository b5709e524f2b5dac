export { actorOf, type Audit, type AuditActor, type AuditAuthority, type AuditEvent } from './audit/audit.ts';
export { createAuditLog, type AuditLog, type AuditLogParts, type AuditStats } from './audit/auditLog.ts';
export { exportAudit } from './audit/exportAudit.ts';
export { queryAudit, type AuditQueryResult } from './audit/queryAudit.ts';
export type { AuditEventFilters, AuditReadParts } from './audit/readSegments.ts';
export { sweepAudit } from './audit/sweepAudit.ts';
export { verifyAudit, type AuditProblem, type AuditReport } from './audit/verifyAudit.ts';
export { changeBlock } from './blocks/changeBlock.ts';
export { checkBlocks } from './blocks/checkBlocks.ts';
export { createBlock } from './blocks/createBlock.ts';
export type { RunBlockParts, SaveBlockParts } from './blocks/parts.ts';
export { removeBlock } from './blocks/removeBlock.ts';
export { findBlockToRun, runBlock } from './blocks/runBlock.ts';
export {
  getBlockCollection,
  createSavedBlocks,
  type SavedBlock,
  type SavedBlocks,
} from './blocks/sealedBlocks.ts';
export { listBlocks, viewBlock } from './blocks/viewBlocks.ts';
export { getSavedSharing, shareSaved } from './saved/shareSaved.ts';
export { checkSet } from './sets/checkSet.ts';
export type { MeterStep, RunInbound, RunSetParts, SaveSetParts } from './sets/parts.ts';
export type { RunListener } from './sets/runJob.ts';
export { changeSet, createSet, removeSet } from './sets/saveSets.ts';
export { createSealedRuns, type SealedRuns } from './sets/sealedRuns.ts';
export { createSets, getSetCollection, type BlockSets } from './sets/sealedSets.ts';
export { createSetRuns, type StartedRun, type SetRuns } from './sets/setRuns.ts';
export { listSets, viewSet } from './sets/viewSets.ts';
export { requestFields } from './toolcall/requestFields.ts';
export { createCatalog, type Catalog, type CatalogTool, type ToolList } from './catalog/catalog.ts';
export {
  createListAll,
  type ListAll,
  type ItemList,
  type ListLimits,
  type ListMethod,
} from './catalog/listAll.ts';
export type { ServerTools } from './catalog/listForUser.ts';
export { createListSubscriptions, type ListSubscriptions } from './catalog/listSubscriptions.ts';
export { createItemListCache, type ItemListCache } from './catalog/itemListCache.ts';
export { createListChanges, listKinds, type ListChange, type ListChanges } from './catalog/listChanges.ts';
export { createNaming, type Naming } from './catalog/naming.ts';
export { createToolSearch, type ToolSearch } from './catalog/search/toolSearch.ts';
export { createServerKeys, type ServerKeys } from './catalog/serverKeys.ts';
export { changeServer } from './configure/changeServer.ts';
export { checkServerDefinition, type ServerCheckInput } from './configure/checkServerDefinition.ts';
export { createServer } from './configure/createServer.ts';
export { toEtag, parseIfMatch } from './configure/ifMatch.ts';
export { createInspectDefinition } from './configure/inspectDefinition.ts';
export type { ServerChange } from './configure/validateUpdate.ts';
export { listAllServers, type ListAllServersParts } from './configure/listAllServers.ts';
export { createOverrides, type Overrides } from './configure/overrides.ts';
export { deleteOverride, getOverride, putOverride, type OverrideParts } from './configure/overrideServer.ts';
export type { ConfigureParts, ViewParts } from './configure/parts.ts';
export { removeServer } from './configure/removeServer.ts';
export { listServers, viewServer } from './configure/viewServer.ts';
export {
  createConnectionManager,
  type ConnectionLimits,
  type ConnectionManager,
  type ServerConnections,
} from './connections/connectionManager.ts';
export type { Conversations } from './conversations/conversations.ts';
export { createConversations, type ConversationParts } from './conversations/createConversations.ts';
export { appCredentialKey, createAppTokens, type AppTokens } from './credentials/appTokens.ts';
export { createCredentialSelector, type CredentialSelector } from './credentials/credentialSelector.ts';
export type { Credential } from './credentials/credential.ts';
export { credentialHolder, userIdOfHolder } from './credentials/credentialHolder.ts';
export { createCredentials, userFieldsOf, type Credentials } from './credentials/credentials.ts';
export {
  createPendingClaims,
  type PendingClaimParts,
  type PendingClaims,
} from './credentials/obo/pendingClaims.ts';
export {
  createExchanger,
  type ExchangeEvent,
  type ExchangerParts,
} from './credentials/obo/createExchanger.ts';
export type { Exchanger } from './credentials/obo/exchanger.ts';
export type {
  ExchangedToken,
  ExchangeProvider,
  ExchangeRequest,
} from './credentials/obo/exchangeProvider.ts';
export { ExchangeFault } from './credentials/obo/exchangeFault.ts';
export { createOboTokens, type OboTokenParts, type OboTokens } from './credentials/obo/oboTokens.ts';
export {
  createExchangeProviders,
  type ExchangeProviders,
} from './credentials/obo/providers/exchangeProviders.ts';
export { createDpop, type Dpop } from './credentials/dpop/dpop.ts';
export { createBoundKeys, type BoundKeys } from './credentials/obo/boundKeys.ts';
export { createResourceMetadata, type ResourceMetadataParts } from './credentials/obo/resourceMetadata.ts';
export { createOutdatedTokenEviction } from './credentials/obo/evictOutdated.ts';
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
} from './credentials/oauth/createOAuthServices.ts';
export { createRetiringServers, type RetiringServers } from './credentials/oauth/retiringServers.ts';
export { createServerGrants, type ServerGrants } from './credentials/oauth/serverGrants.ts';
export type { OAuthFlows } from './credentials/oauth/flows/createOAuthFlows.ts';
export type { CallbackResult } from './credentials/oauth/flows/finishFlow.ts';
export type { ProbeResult } from './credentials/oauth/flows/flowPayload.ts';
export type { OpenFlowResult } from './credentials/oauth/flows/openFlow.ts';
export type { StartedFlow, StartOptions } from './credentials/oauth/flows/startFlow.ts';
export type { IssuerSettings } from './credentials/oauth/issuerSettings.ts';
export type { OAuthEgress } from './credentials/oauth/oauthNetwork.ts';
export { asDraft } from './credentials/oauth/registration/clientUrls.ts';
export { buildClientDocument } from './credentials/oauth/registration/clientDocument.ts';
export {
  createOAuthTokens,
  DEFAULT_LABEL,
  userCredentialKey,
  type OAuthTokens,
} from './credentials/oauthTokens.ts';
export type { SignInReason } from './credentials/signInReason.ts';
export { SignInRequired } from './credentials/signInRequired.ts';
export { requestTokens, type OAuthTokenRequest } from './credentials/oauth/tokenEndpoint.ts';
export { revokeTokens, type RevocationRequest } from './credentials/oauth/revocation.ts';
export { createVault } from './credentials/vault/createVault.ts';
export { checkTimings, scaledTimings, vaultTimings, type VaultTimings } from './credentials/vault/timings.ts';
export type {
  AppGrant,
  AppGrants,
  RefreshOutcome,
  VaultEvent,
  VaultParts,
} from './credentials/vault/vaultParts.ts';
export type {
  CredentialSummary,
  CredentialVault,
  VaultToken,
  TokenOutcome,
} from './credentials/vault/vault.ts';
export { readHolderValues } from './credentials/holderValues.ts';
export { subscribeToGrantChanges } from './credentials/grantChanges.ts';
export { createUserVariables, type UserVariables } from './credentials/userVariables.ts';
export { createVariableCache, parseVariablesKey, type VariableCache } from './credentials/variableCache.ts';
export { diagnose, type DiagnosisInbound } from './diagnose/diagnose.ts';
export type { DiagnoseParts, DiagnosisNetwork, NetworkProblem } from './diagnose/parts.ts';
export { discoverTools } from './drafts/discoverTools.ts';
export { parseDraftName } from './drafts/draft.ts';
export { createServerDrafts, type ServerDrafts } from './drafts/drafts.ts';
export type { DiscoverParts } from './drafts/parts.ts';
export { GatewayError, type GatewayErrorOptions } from './errors/gatewayError.ts';
export {
  createAccounts,
  DEFAULT_TENANT,
  LOCAL_ISSUER,
  normalizeEmail,
  type Accounts,
} from './identity/accounts.ts';
export { isStoreKeyValid } from './identity/keyCheck.ts';
export type { ClientGrants } from './identity/authorizationServer/clientGrants.ts';
export type { FederatedTokens } from './identity/openid/loginTokens.ts';
export type { FinishedLogin, OpenIdLogin } from './identity/openid/openIdLogin.ts';
export type { OpenIdSettings } from './identity/openid/openIdSettings.ts';
export type { Provisioning } from './identity/openid/provisioning.ts';
export { toReturnPath } from './identity/openid/returnPath.ts';
export type { VerifiedToken } from './identity/openid/verifiedIdentity.ts';
export { createPasswords, type Passwords } from './identity/passwords.ts';
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
export { subscribeToSignOuts } from './identity/signOuts.ts';
export { createSetup, SETUP_LIFETIME_MS, type Setup } from './identity/setup.ts';
export { createPasswordSignIn, networkOf, type PasswordSignIn } from './identity/passwordSignIn.ts';
export {
  createApprovals,
  APPROVAL_LIFETIME_MS,
  type Approvals,
  type ApprovalState,
  type PendingApproval,
} from './policy/approvals.ts';
export { enforceApproval, type EnforceParts } from './policy/enforceApproval.ts';
export { isToolAvailable, decideTool } from './policy/decideTool.ts';
export { createToolPolicy, type ToolPolicy, type ToolDecision } from './policy/toolPolicy.ts';
export { isOfTenant } from './principal/isOfTenant.ts';
export {
  isAdmin,
  principalKey,
  toPrincipal,
  type Principal,
  type ServicePrincipal,
  type UserPrincipal,
} from './principal/principal.ts';
export { createAcl, type Acl, type AclParts } from './access/acl.ts';
export { withLease, roleLeaseKey, type WithLeaseParts } from './access/withLease.ts';
export { backfillRoles } from './access/backfillRoles.ts';
export { listManageBits, getManagedServer, type ManageParts } from './access/managedServer.ts';
export {
  createOboTargets,
  type OboCandidate,
  type OboTargets,
  type OboTargetsParts,
} from './access/oboTargets.ts';
export { createOboTrust, type OboTrust, type OboTrustParts } from './access/oboTrust.ts';
export { withAudit, type AuditedResult, type AuditDetails } from './access/withAudit.ts';
export {
  createRoleAdmin,
  type NewRole,
  type RoleAdmin,
  type RoleAdminParts,
  type RoleChange,
} from './access/roleAdmin.ts';
export { createRoles, type Role, type Roles, type RolesParts } from './access/roles.ts';
export type { ConfiguredPermissions } from './access/roleTable.ts';
export { searchPrincipals, type SearchParts } from './access/searchPrincipals.ts';
export { shareServer, getServerSharing, type ShareParts } from './access/shareServer.ts';
export { createUserAdmin, type UserAdmin, type UserAdminParts } from './access/userAdmin.ts';
export type { RequirePermission } from './access/requirePermission.ts';
export { isSignInChallenge } from './registry/isSignInChallenge.ts';
export { mayRequireOAuth } from './registry/mayRequireOAuth.ts';
export {
  createInspectionScheduler,
  type InspectionScheduler,
  type InspectionState,
} from './registry/inspectionScheduler.ts';
export { createRegistry, type Registry } from './registry/registry.ts';
export { createStoredServers, type StoredServers } from './registry/storedServers.ts';
export { listDeclaredVariables, needsOAuth } from './registry/scope.ts';
export type { AppServer, ServerSnapshot, UserServer } from './registry/server.ts';
export {
  reinitialize,
  type ReinitOptions,
  type ReinitParts,
  type SignInStarter,
} from './reinit/reinitialize.ts';
export type { ReinitResult } from './reinit/outcome.ts';
export { getAuthorizationState } from './reinit/authorizationState.ts';
export { probeGrant } from './reinit/probeGrant.ts';
export { getServerStatus, getServerStatuses, type StatusParts } from './reinit/serverStatus.ts';
export { shapeResult } from './shaping/shapeResult.ts';
export { sendTaskRequest, type TaskRequest, type TaskParts } from './toolcall/sendTaskRequest.ts';
export { authorityOf } from './toolcall/authorityOf.ts';
export type { SendParts } from './toolcall/sendToServer.ts';
export type { EntryPoint, Inbound, InboundPeer, RequestFields, TraceContext } from './toolcall/inbound.ts';
export { callTool, type CallParts, type ToolInvocation } from './toolcall/callTool.ts';
export type { AccessParts, AllowedServer } from './toolcall/checkAccess.ts';
export { completeServer, type CompletionRequest } from './toolcall/completeServer.ts';
export { DIALOGUE_METHODS } from './toolcall/dialogue.ts';
export {
  endpointServers,
  type EndpointSelector,
  type EndpointParts,
  type MissingServer,
} from './toolcall/endpoint.ts';
export { findServer, listAllowedServers, type ServerLookupParts } from './toolcall/findServer.ts';
export { inspectServer } from './toolcall/inspectServer.ts';
export {
  listEndpointItems,
  listEndpointTools,
  type EndpointList,
  type EndpointTool,
} from './toolcall/listEndpoint.ts';
export { listServer, type ListServerParts } from './toolcall/listServer.ts';
export { listServerTools, type SingleServerTools } from './toolcall/listServerTools.ts';
export { listTools, listToolsOfServers, type ListToolsParts } from './toolcall/listTools.ts';
export { readServer, type ReadRequest, type ReadParts } from './toolcall/readServer.ts';
export { routePrompt, routeTool, type RoutedName, type RoutedTool } from './toolcall/routeEndpoint.ts';
export { routeResource } from './toolcall/routeResource.ts';
export { searchEndpointTools, type ToolSearchParts } from './toolcall/searchEndpoint.ts';
export { getServerInstructions, type ServerInstructions } from './toolcall/serverInstructions.ts';
export { connectPagePath, OPENID_SIGN_IN_PATH } from './toolcall/signInRequirement.ts';
export { createArgumentValidator, type ArgumentValidator } from './toolcall/validateArguments.ts';
export { hasUsableCredential } from './toolcall/hasUsableCredential.ts';
export { cannotSubscribe } from './toolcall/subscriptionSupport.ts';
export { requireResourceUpdates } from './toolcall/requireResourceUpdates.ts';
export { subscribeToServer, type SubscribeParts } from './toolcall/subscribeToServer.ts';
export {
  createServerSubscriptions,
  type ServerSubscription,
  type ServerSubscriptions,
} from './subscriptions/serverSubscriptions.ts';
export { createStdioLimits, type StdioLimits } from './upstream/channel/stdioLimits.ts';
export { openWithoutSession } from './upstream/http/openWithoutSession.ts';
export { filterCapabilities, isServerRequestAllowed, ClientRpcError } from './upstream/dialogue.ts';
export { createOpenUpstream, type OpenUpstream } from './upstream/openUpstream.ts';
export type { Log, Network, UpstreamParts } from './upstream/parts.ts';
export type { OpenOptions, RemoteTarget, StdioTarget, UpstreamTarget } from './upstream/target.ts';
export { ENTERPRISE_MANAGED } from './credentials/obo/providers/idJagProvider.ts';
export { hasTasksCapability, tasksCapability, type TaskMethod } from './upstream/tasks.ts';
export type {
  UpstreamResponse,
  StartedTask,
  Era,
  JsonObject,
  ListKind,
  Upstream,
} from './upstream/upstream.ts';
export { UpstreamError, type ReadNetworkError } from './upstream/upstreamError.ts';
