export { isLoopbackHost } from './config/url.ts';
export { parseUrl } from './config/url.ts';
export { errorCodes, errorKinds, httpStatus, jsonRpcNumber, type ErrorCode } from './errors/codes.ts';
export { Diagnostic } from './errors/diagnostic.ts';
export { ApprovalNeeded, Problem } from './errors/problem.ts';
export { Access, ToolFilter } from './config/server.ts';
export { ApiKey, apiKeyVariable } from './config/server.ts';
export { AuthorizationServer, RegisteredClient } from './config/authorizationServer.ts';
export { checkConfig, type ConfigCheck } from './config/checkConfig.ts';
export { checkServer, type ServerCheck } from './config/checkServer.ts';
export { Config, ConfigWithoutServers } from './config/config.ts';
export { didYouMean, findNearest } from './config/didYouMean.ts';
export { CustomEndpoint, Endpoints, RoleToolPolicy, ToolApproval } from './config/endpoints.ts';
export {
  nameSeparator,
  isValidAlias,
  isServerKey,
  MAX_PUBLIC_NAME_LENGTH,
  MAX_SERVER_KEY_LENGTH,
} from './config/names.ts';
export { createFinding, formatPath, type Finding, type Path } from './config/finding.ts';
export { checkHeaderName, hopHeader, reservedHeaders } from './config/headerName.ts';
export {
  ExchangeTarget,
  IdentityProvider,
  IdentityProviders,
  ResourceAuthorizationServer,
  matchesTarget,
  originOf,
} from './config/identityProviders.ts';
export { Interface, InterfaceMcpServers } from './config/config.ts';
export { unusedInterfaceKeys, unusedSections } from './config/config.ts';
export { EndpointServer, McpEndpoint } from './config/mcpSettings.ts';
export { McpSettings, OAuthIssuer } from './config/mcpSettings.ts';
export { OAuth, oauthUrls } from './config/oauth.ts';
export { Obo, scopeList } from './config/identityProviders.ts';
export { draftPrefix, normalizeServerName, reservedServerNames, checkServerName } from './config/names.ts';
export { hasControlCharacter, checkUrlText, type ExpandText } from './config/checkServer.ts';
export { parseToolPattern, type ToolPattern } from './config/endpoints.ts';
export {
  McpServer,
  SseServer,
  StdioServer,
  StreamableHttpServer,
  transportSchemas,
  WebsocketServer,
  type Transport,
} from './config/server.ts';
export { UserVariable, UserVariables } from './config/server.ts';
export { ignoredVariables } from './env/librechatVariables.ts';
export { parseEnv, type Env, type EnvRecord, type EnvResult } from './env/parseEnv.ts';
export { secretVariableNames } from './env/variables.ts';
export type { Variable } from './env/variable.ts';
export { variableGroupTitles, variableGroups, envVariables, type VariableName } from './env/variables.ts';
export {
  aclBits,
  findAclRole,
  aclRoles,
  ALL_ACL_BITS,
  hasAclBit,
  principalTypes,
  type AclBit,
  type AclRole,
  type PrincipalType,
} from './permissions/permissions.ts';
export { apiKeyScopes, type ApiKeyScope } from './permissions/permissions.ts';
export {
  builtInRoles,
  readExplicitPermissions,
  isBuiltInRole,
  mcpPermissions,
  permissionType,
  roleDefaults,
  type BuiltInRole,
  type McpPermission,
  type PartialPermissions,
} from './permissions/permissions.ts';
export {
  AclRoleView,
  PrincipalSearch,
  PrincipalSearchView,
  ServerPermissionsView,
  SharedWith,
  ShareRequest,
  SharingView,
  type FoundPrincipal,
  type SharedPrincipalView,
} from './rest/access.ts';
export {
  AdminRoleView,
  AdminUsersView,
  AdminUserView,
  PermissionsRequest,
  RoleChangeRequest,
  RoleName,
  RoleRequest,
  RoleView,
  SessionView,
  UserChangeRequest,
  UserSearch,
} from './rest/admin.ts';
export { ApprovalDecision, ApprovalsView, ApprovalView } from './rest/tools.ts';
export {
  AuditExportQuery,
  auditProblems,
  AuditQuery,
  AuditVerifyView,
  AuditView,
  type AuditProblemKind,
} from './rest/audit.ts';
export { auditKinds, auditOutcomes, type AuditKind, type AuditOutcome } from './rest/constants.ts';
export { Email, LoginRequest, OwnUserView, Password, SetupRequest, UserView } from './rest/account.ts';
export {
  BlockChange,
  BlockCheckRequest,
  BlockCheckView,
  BlockInput,
  BlockInputs,
  BlockRequest,
  BlockRunRequest,
  BlockServer,
  BlocksQuery,
  blockStates,
  BlocksView,
  BlockSummary,
  BlockView,
  CheckedBlock,
  CredentialChoice,
  CredentialGroup,
  CredentialNeed,
  StoredBlock,
  MissingInput,
  MissingParts,
  SchemaDrift,
} from './rest/blocks.ts';
export {
  CheckedStep,
  JsonPointer,
  StoredRun,
  StoredSet,
  StoredStep,
  MAX_STEPS,
  RunProgress,
  RunResumeRequest,
  runEvents,
  runStates,
  RunStepView,
  RunsView,
  RunSummary,
  RunView,
  SetChange,
  SetCheckRequest,
  SetCheckView,
  SetRequest,
  SetRunRequest,
  SetsQuery,
  SetStep,
  SetSteps,
  SetsView,
  SetView,
  StepInput,
  StepKey,
  stepStates,
  StepWait,
  type RunEventName,
  type RunState,
  type StepState,
} from './rest/sets.ts';
export {
  Authority,
  authorityKinds,
  callStates,
  ChatCall,
  chatEvents,
  ChatMessage,
  ChatPart,
  ChatProblem,
  ChatRequest,
  ConnectNeeded,
  ConnectDecision,
  ConversationChange,
  ConversationsQuery,
  ConversationSummary,
  ConversationsView,
  ConversationView,
  finishReasons,
  ModelsView,
  resultKinds,
  ToolResult,
  type AuthorityKind,
  type ChatEvent,
  type ChatEventName,
  type FinishReason,
  type ResultKind,
} from './rest/chat.ts';
export { createConversationTitle } from './rest/constants.ts';
export { MAX_CHAT_TEXT_LENGTH, MAX_CHAT_ROUNDS, MAX_PARALLEL_CHAT_CALLS } from './rest/constants.ts';
export { StoredChatMessage } from './rest/chat.ts';
export { ServerCheckRequest, ServerCheckView, ServerToolsView, ToolDetail } from './rest/servers.ts';
export {
  DiscoverAuth,
  DiscoveredTool,
  DiscoverToolsRequest,
  DiscoverToolsView,
  rejectionHints,
  signInProblems,
  type RejectionHint,
  type SignInProblem,
} from './rest/discover.ts';
export { ClientView } from './rest/account.ts';
export { ApiKeyRequest, ApiKeyView } from './rest/account.ts';
export { EffectiveConfigView, LiveConnectionsView, StatsQuery, StatsView } from './rest/monitoring.ts';
export {
  CredentialChange,
  CredentialsView,
  CredentialView,
  DiagnosisStep,
  DiagnoseUserRequest,
  DiagnosisView,
  DisconnectView,
  flowChannel,
  flowErrors,
  FlowMessage,
  ConsentQuery,
  FlowStatusQuery,
  FlowStatusView,
  FlowTokensView,
  FlowView,
  ImportCredentialRequest,
  ImportedCredentialView,
  ReauthCampaignRequest,
  ReauthCampaignView,
  StartFlowRequest,
  type FlowError,
} from './rest/oauth.ts';
export { ReadyView } from './rest/monitoring.ts';
export { secretMask } from './rest/constants.ts';
export {
  AdminServersView,
  CreatedServerView,
  NamedServerView,
  CreateServerRequest,
  OverrideView,
  ServerConfigRequest,
  ServersQuery,
  ServersView,
  ServerView,
} from './rest/servers.ts';
export {
  AnthropicImageType,
  AnthropicResult,
  Attachment,
  OpenAiResult,
  RawResult,
  ResultFormat,
  type AnthropicContent,
} from './rest/shaping.ts';
export {
  AuthValuesView,
  ConnectionStatusesView,
  ConnectionStatusView,
  PluginsRequest,
  PromptRequest,
  ReinitializeRequest,
  ReinitializeView,
  ResourceRequest,
  ToolCallRequest,
  ToolsView,
  type ServerStatus,
} from './rest/tools.ts';
