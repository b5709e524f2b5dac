/**
 * The words that need no schema library: what a browser loads to know codes, bits and limits. Shapes are imported from
 * the main entry as types alone, which cost nothing.
 */
export { errorCodes, errorKinds, type ErrorCode } from './errors/codes.ts';
export { aclBits, aclRoles, hasAclBit, type AclBit, type AclRole } from './permissions/acl.ts';
export { apiKeyScopes, type ApiKeyScope } from './permissions/apiKeyScopes.ts';
export {
  builtInRoles,
  mcpPermissions,
  permissionType,
  type McpPermission,
} from './permissions/permissions.ts';
export { auditKinds, auditOutcomes } from './rest/auditKinds.ts';
export { createConversationTitle } from './rest/conversationTitle.ts';
export { flowChannel } from './rest/flowChannel.ts';
export { MAX_CHAT_TEXT_LENGTH } from './rest/chatLimits.ts';
export { isLoopbackHost } from './config/isLoopbackHost.ts';
export { parseUrl } from './config/parseUrl.ts';
export { secretMask } from './rest/secretMask.ts';
