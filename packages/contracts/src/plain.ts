/**
 * Constants without the schema library, for the browser: codes, permissions and limits. Import schemas from the
 * main entry point as types only.
 */
export { errorCodes, errorKinds, type ErrorCode } from './errors/codes.ts';
export { aclBits, aclRoles, hasAclBit, type AclBit, type AclRole } from './permissions/permissions.ts';
export { apiKeyScopes, type ApiKeyScope } from './permissions/permissions.ts';
export {
  builtInRoles,
  mcpPermissions,
  permissionType,
  type McpPermission,
} from './permissions/permissions.ts';
export { auditKinds, auditOutcomes } from './rest/constants.ts';
export { createConversationTitle } from './rest/constants.ts';
export { flowChannel } from './rest/constants.ts';
export { MAX_CHAT_TEXT_LENGTH } from './rest/constants.ts';
export { isLoopbackHost } from './config/url.ts';
export { parseUrl } from './config/url.ts';
export { secretMask } from './rest/constants.ts';
