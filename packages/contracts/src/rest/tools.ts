import { z } from 'zod';

const authField = z.object({
  authField: z.string(),
  label: z.string(),
  description: z.string(),
  sensitive: z.boolean(),
});

/**
 * `GET /api/mcp/tools`, in the form of LibreChat's front end; `title`, `state`, `code` and `incomplete` are
 * additions.
 */
export const ToolsView = z.object({
  servers: z.record(
    z.string(),
    z.object({
      name: z.string(),
      title: z.string(),
      icon: z.string(),
      authenticated: z.boolean(),
      authConfig: z.array(authField),
      tools: z.array(
        z.object({
          name: z.string(),
          title: z.string().optional(),
          pluginKey: z.string(),
          description: z.string(),
          serverToolName: z.string().optional(),
        }),
      ),
      state: z.enum(['connected', 'unreachable', 'needs_authorization', 'needs_configuration']),
      code: z.string().optional(),
      incomplete: z.boolean().optional(),
    }),
  ),
});
export type ToolsView = z.infer<typeof ToolsView>;

const field = z.string().min(1).max(256);

/** Values for `{{LIBRECHAT_BODY_...}}` placeholders of the server definition. */
const request = z
  .strictObject({
    conversationId: field.optional(),
    parentMessageId: field.optional(),
    messageId: field.optional(),
  })
  .optional();

export const ToolCallRequest = z.strictObject({
  arguments: z.record(z.string(), z.unknown()).default({}),
  request,
});
export type ToolCallRequest = z.infer<typeof ToolCallRequest>;

export const ResourceRequest = z.strictObject({ uri: z.string().min(1).max(8192), request });
export const PromptRequest = z.strictObject({
  arguments: z.record(z.string(), z.string()).default({}),
  request,
});

/** Timers fire immediately for longer delays. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const ReinitializeRequest = z.strictObject({
  /** False keeps a working connection. */
  forceNew: z.boolean().default(true),
  /** How long the caller waits, in milliseconds. The server's own limits also apply. */
  connectionTimeout: z.int().min(100).max(MAX_TIMER_MS).optional(),
});

/** `POST /api/mcp/:serverName/reinitialize`. Status 200 for every attempt that ran; `success` gives the result. */
export const ReinitializeView = z.object({
  success: z.boolean(),
  message: z.string(),
  serverName: z.string(),
  oauthRequired: z.boolean(),
  oauthUrl: z.string().nullable(),
  /** The sign-in at `oauthUrl`, and how long it remains valid in milliseconds. */
  flowId: z.string().optional(),
  oauthTimeout: z.number().optional(),
  availableTools: z.record(z.string(), z.unknown()).nullable(),
  tools: z.array(z.unknown()).nullable(),
  failureReason: z
    .enum(['unreachable', 'missing_custom_user_vars', 'oauth_required', 'initialization_failed'])
    .optional(),
  missingUserVars: z.array(z.string()).optional(),
  connectionDeferred: z.boolean().optional(),
  code: z.string().optional(),
  retryable: z.boolean().optional(),
  retryAt: z.number().optional(),
});
export type ReinitializeView = z.infer<typeof ReinitializeView>;

const serverStatus = {
  requiresOAuth: z.boolean(),
  requestScoped: z.boolean().optional(),
  configurationState: z.enum(['configured', 'needs_configuration']).optional(),
  connectionState: z.enum(['connected', 'connecting', 'disconnected', 'error']),
  authorizationState: z.enum(['not_required', 'needs_authorization', 'authorizing', 'authorized', 'error']),
  error: z.string().optional(),
  code: z.string().optional(),
  /** Since when the problem exists. */
  since: z.number().optional(),
  retryAt: z.number().optional(),
};
const ServerStatus = z.object(serverStatus);
export type ServerStatus = z.infer<typeof ServerStatus>;

export const ConnectionStatusesView = z.object({
  success: z.boolean(),
  connectionStatus: z.record(z.string(), ServerStatus),
  oauthTimeout: z.number(),
});
export type ConnectionStatusesView = z.infer<typeof ConnectionStatusesView>;

const { connectionState, ...otherStatusFields } = serverStatus;
export const ConnectionStatusView = z.object({
  success: z.boolean(),
  serverName: z.string(),
  /** Equal to `connectionState`. LibreChat's front end reads this name. */
  connectionStatus: connectionState,
  ...otherStatusFields,
});
export type ConnectionStatusView = z.infer<typeof ConnectionStatusView>;

export const AuthValuesView = z.object({
  success: z.boolean(),
  serverName: z.string(),
  authValueFlags: z.record(z.string(), z.boolean()),
});
export type AuthValuesView = z.infer<typeof AuthValuesView>;

/** `POST /api/user/plugins`: how LibreChat's front end stores a user's variables of a server. */
export const PluginsRequest = z.strictObject({
  pluginKey: z.string().regex(/^mcp_./, 'must be mcp_ followed by the name of a server'),
  action: z.enum(['install', 'uninstall']),
  auth: z.record(z.string(), z.string().max(16_384)).default({}),
  isEntityTool: z.boolean().optional(),
});
export type PluginsRequest = z.infer<typeof PluginsRequest>;

/** `POST /api/mcp/approvals/:id` */
export const ApprovalDecision = z.strictObject({ approve: z.boolean() });
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;

export const ApprovalView = z.object({ id: z.string(), approved: z.boolean() });
export type ApprovalView = z.infer<typeof ApprovalView>;

/** `GET /api/mcp/approvals`: the calls that wait for the caller's decision. Contains argument names, never values. */
export const ApprovalsView = z.object({
  approvals: z.array(
    z.object({
      id: z.string(),
      server: z.string(),
      tool: z.string(),
      arguments: z.array(z.string()),
      /** Milliseconds since the epoch. */
      expiresAt: z.number(),
    }),
  ),
});
export type ApprovalsView = z.infer<typeof ApprovalsView>;
