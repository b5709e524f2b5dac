export {
  createSharedUpstreams,
  type OpenUpstream,
  type SharedServer,
  type SharedUpstreams,
} from './connections/sharedUpstreams.ts';
export { listSharedTools, type ServerTools } from './catalog/listSharedTools.ts';
export { callSharedTool, type ToolCall } from './toolcall/callSharedTool.ts';
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
export { createSetup, SETUP_LIFETIME_MS, type Setup } from './identity/setup.ts';
export { createSignIn, type SignIn } from './identity/signIn.ts';
export { principalOf, type Principal, type UserPrincipal } from './principal/principal.ts';
export { openStdioUpstream, type UpstreamLimits, type UpstreamParts } from './upstream/openStdioUpstream.ts';
export type { StdioCommand, StdioParts } from './upstream/stdioTransport.ts';
export type { Upstream, UpstreamResult, UpstreamTool } from './upstream/upstream.ts';
export { createRolePermissions, permits, type RequirePermission } from './access/rolePermissions.ts';
