/**
 * The words that need no schema library: what a browser loads to know codes, bits and limits. Shapes are imported from
 * the main entry as types alone, which cost nothing.
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
