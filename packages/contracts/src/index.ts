export { isLoopbackHost } from './config/isLoopbackHost.ts';
export { parseUrl } from './config/parseUrl.ts';
export { errorCodes, errorKinds, httpStatus, jsonRpcNumber, type ErrorCode } from './errors/codes.ts';
export { ApprovalNeeded, Diagnostic, Problem } from './errors/problem.ts';
export { Access, ToolFilter } from './config/access.ts';
export { ApiKey, apiKeyVariable } from './config/apiKey.ts';
export { checkConfig, type ConfigCheck } from './config/checkConfig.ts';
export { checkServer, type ServerCheck } from './config/checkServer.ts';
export { Config, ConfigWithoutServers } from './config/config.ts';
export { didYouMean, nearest } from './config/didYouMean.ts';
export { CustomEndpoint, Endpoints, RoleToolPolicy, ToolApproval } from './config/endpoints.ts';
export { finding, formatPath, type Finding, type Path } from './config/finding.ts';
export { headerNameProblem, hopHeader, reservedHeaders } from './config/headerName.ts';
export {
  ExchangeTarget,
  IdentityProvider,
  IdentityProviders,
  matchesTarget,
  originOf,
} from './config/identityProviders.ts';
export { Interface, InterfaceMcpServers } from './config/interface.ts';
export { unusedInterfaceKeys, unusedSections } from './config/librechatKeys.ts';
export { McpSettings } from './config/mcpSettings.ts';
export { OAuth, oauthUrls } from './config/oauth.ts';
export { Obo, scopeList } from './config/obo.ts';
export { normalizeServerName, routeWords, serverNameProblem } from './config/serverName.ts';
export { hasControlCharacter, urlProblem, type Expand } from './config/textRules.ts';
export { parseToolPattern, type ToolPattern } from './config/toolPattern.ts';
export {
  McpServer,
  SseServer,
  StdioServer,
  StreamableHttpServer,
  transportSchemas,
  WebsocketServer,
  type Transport,
} from './config/transports.ts';
export { UserVariable, UserVariables } from './config/userVariables.ts';
export { unhonouredVariables } from './env/librechatVariables.ts';
export { parseEnv, type Env, type EnvRecord, type EnvResult } from './env/parseEnv.ts';
export { secretVariableNames } from './env/secretNames.ts';
export type { Variable } from './env/variable.ts';
export { groupTitles, variableGroups, variables, type VariableName } from './env/variables.ts';
export {
  aclBits,
  aclRoleOf,
  aclRoles,
  ALL_ACL_BITS,
  grants,
  principalTypes,
  type AclBit,
  type AclRole,
  type PrincipalType,
} from './permissions/acl.ts';
export { apiKeyScopes, type ApiKeyScope } from './permissions/apiKeyScopes.ts';
export {
  builtInRoles,
  explicitPermissions,
  isBuiltInRole,
  mcpPermissions,
  permissionType,
  roleDefaults,
  type BuiltInRole,
  type McpPermission,
  type SomePermissions,
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
export { ApprovalDecision, ApprovalsView, ApprovalView } from './rest/approvals.ts';
export {
  AuditExportQuery,
  auditKinds,
  auditOutcomes,
  auditProblems,
  AuditQuery,
  AuditVerifyView,
  AuditView,
  type AuditKind,
  type AuditOutcome,
  type AuditProblemKind,
} from './rest/audit.ts';
export { Email, LoginRequest, Password, SetupRequest, UserView } from './rest/auth.ts';
export { ApiKeyRequest, ApiKeyView } from './rest/keys.ts';
export { ReadyView } from './rest/ops.ts';
export {
  AdminServersView,
  NamedServerView,
  OverrideView,
  secretMask,
  ServerRequest,
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
