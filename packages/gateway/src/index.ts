export { createCatalog, type Catalog, type CatalogTool, type ToolList } from './catalog/catalog.ts';
export {
  createListAll,
  type ListAll,
  type Listed,
  type ListLimits,
  type ListMethod,
} from './catalog/listAll.ts';
export type { ServerTools } from './catalog/listForUser.ts';
export {
  createConnectionManager,
  type ConnectionLimits,
  type ConnectionManager,
} from './connections/connectionManager.ts';
export type { Credential } from './credentials/credential.ts';
export { createCredentials, type Credentials } from './credentials/credentials.ts';
export { createUserVariables, type UserVariables } from './credentials/userVariables.ts';
export { createVariableCache, readVariablesKey, type VariableCache } from './credentials/variableCache.ts';
export { GatewayError, type GatewayErrorOptions } from './errors/gatewayError.ts';
export {
  createAccounts,
  DEFAULT_TENANT,
  LOCAL_ISSUER,
  normaliseEmail,
  type Accounts,
} from './identity/accounts.ts';
export { keyFitsStore } from './identity/keyCheck.ts';
export { createPasswords, type Passwords } from './identity/passwords.ts';
export {
  createSessions,
  SESSION_LIFETIME_MS,
  type IssuedSession,
  type Sessions,
} from './identity/sessions.ts';
export { createSessionCache, type SessionCache } from './identity/sessionCache.ts';
export { createSetup, SETUP_LIFETIME_MS, type Setup } from './identity/setup.ts';
export { createSignIn, type SignIn } from './identity/signIn.ts';
export { principalKey, principalOf, type Principal, type UserPrincipal } from './principal/principal.ts';
export { createRolePermissions, permits, type RequirePermission } from './access/rolePermissions.ts';
export { couldSignIn } from './registry/couldSignIn.ts';
export { createInspection, type Inspection } from './registry/inspection.ts';
export { createRegistry, type Registry } from './registry/registry.ts';
export { createStoredServers, type StoredServers } from './registry/storedServers.ts';
export { declaredVariables, needsOAuth } from './registry/scope.ts';
export type { AppServer, ServerSnapshot, UserServer } from './registry/server.ts';
export { reinitialize, type ReinitOptions, type ReinitParts } from './reinit/reinitialize.ts';
export type { Reinitialized } from './reinit/outcome.ts';
export { serverStatus, serverStatuses, type StatusParts } from './reinit/serverStatus.ts';
export { shapeResult } from './shaping/shapeResult.ts';
export type { AskParts } from './toolcall/askServer.ts';
export type { Door, Inbound, RequestFields, TraceContext } from './toolcall/call.ts';
export { callTool, type CallParts, type ToolCall } from './toolcall/callTool.ts';
export type { AccessParts } from './toolcall/checkAccess.ts';
export { findServer, findServers, type FindParts } from './toolcall/findServer.ts';
export { inspectServer } from './toolcall/inspectServer.ts';
export { listServer, type ListParts } from './toolcall/listServer.ts';
export { listTools, type ListToolsParts } from './toolcall/listTools.ts';
export { readServer, type Reading } from './toolcall/readServer.ts';
export { createArgumentValidator, type ArgumentValidator } from './toolcall/validateArguments.ts';
export { createStdioLimits, type StdioLimits } from './upstream/channel/stdioLimits.ts';
export { openWithoutSession } from './upstream/http/openWithoutSession.ts';
export { createOpenUpstream, type OpenUpstream } from './upstream/openUpstream.ts';
export type { Log, Network, UpstreamParts } from './upstream/parts.ts';
export type { OpenOptions, RemoteTarget, StdioTarget, UpstreamTarget } from './upstream/target.ts';
export type { Answer, Json, Upstream } from './upstream/upstream.ts';
export { UpstreamError } from './upstream/upstreamError.ts';
export { seesServer } from './access/seesServer.ts';
