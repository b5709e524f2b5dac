import { z } from 'zod';

/** The errors of a sign-in at a server. A fixed list, never text from another party. */
export const flowErrors = [
  'access_denied',
  'server_error',
  'temporarily_unavailable',
  'invalid_scope',
  'provider_error',
  'missing_code',
  'missing_state',
  'invalid_state',
  'csrf_validation_failed',
  'issuer_mismatch',
  'code_refused',
  'token_exchange_failed',
  'probe_refused',
  'config_changed',
  'superseded',
  'cancelled',
  'expired',
  'flow_used',
  'flow_unknown',
  'flow_forbidden',
  'callback_failed',
] as const;
export type FlowError = (typeof flowErrors)[number];

const label = z
  .string()
  .min(1)
  .max(64)
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u,
    'must begin with a letter or digit; then letters, digits, spaces and . _ -',
  );

/** `POST /api/mcp/:serverName/oauth/start`. */
export const StartFlowRequest = z.strictObject({
  /** A path of the gateway to return to, if no window can be opened. */
  returnTo: z.string().max(1_024).optional(),
  /** The label of the credential. Default: the one in use, else `default`. */
  label: label.optional(),
  /** Additional scopes, as in `_meta["behalf/auth"]` of the call that needs them. The authorization server decides. */
  scopes: z
    .string()
    .max(4_096)
    .regex(/^[!#-[\]-~]+( [!#-[\]-~]+)*$/, 'must be scope names separated by one space')
    .optional(),
});
export type StartFlowRequest = z.infer<typeof StartFlowRequest>;

/**
 * The response with status 201. A 409 has the same fields for the sign-in that is already in progress. `connectUrl`
 * is a page of the gateway; `label` names the credential.
 */
export const FlowView = z.object({
  flowId: z.string(),
  connectUrl: z.string(),
  expiresAt: z.number(),
  label: z.string(),
});
export type FlowView = z.infer<typeof FlowView>;

/** `GET /api/mcp/:serverName/oauth/asked?for=`: resolves a link that an MCP client displayed. */
export const ConsentQuery = z.strictObject({ for: z.string().min(1).max(200) });

/** `GET /api/mcp/oauth/status/:flowId?wait=`: how long to wait for the end, in milliseconds, at most 25,000. */
export const FlowStatusQuery = z.strictObject({
  wait: z.coerce.number().int().min(0).max(25_000).optional(),
});

export const FlowStatusView = z.object({
  status: z.enum(['PENDING', 'COMPLETED', 'FAILED']),
  completed: z.boolean(),
  failed: z.boolean(),
  error: z.enum(flowErrors).optional(),
  /** Whether the server accepted the new token. `unverified`: it also answers without a token. */
  probe: z.enum(['ok', 'unverified', 'unreachable']).optional(),
  expiresAt: z.number(),
});
export type FlowStatusView = z.infer<typeof FlowStatusView>;

/** `GET /api/mcp/oauth/tokens/:flowId`. Never contains a token. */
export const FlowTokensView = z.object({
  tokens: z.object({
    token_type: z.string(),
    scope: z.string(),
    expires_at: z.number().nullable(),
    obtained_at: z.number(),
    has_refresh_token: z.boolean(),
  }),
});
export type FlowTokensView = z.infer<typeof FlowTokensView>;

/** A credential of the caller at a server. Contains no part of a token. */
export const CredentialView = z.object({
  id: z.string(),
  server: z.string(),
  label: z.string(),
  kind: z.enum(['oauth_code', 'static']),
  isDefault: z.boolean(),
  status: z.enum(['active', 'rejected', 'revoked', 'unreadable', 'unbound']),
  /** Why the user must act, if so. */
  reason: z.string().optional(),
  since: z.number(),
  issuer: z.string(),
  scopes: z.string(),
  expiresAt: z.number().nullable(),
  hasRefreshToken: z.boolean(),
  fingerprint: z.string().nullable(),
  lastUsedAt: z.number().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type CredentialView = z.infer<typeof CredentialView>;

/** `GET /api/mcp/:serverName/credentials`, in a stable order. */
export const CredentialsView = z.object({ credentials: z.array(CredentialView) });
export type CredentialsView = z.infer<typeof CredentialsView>;

/** `DELETE /api/mcp/:serverName/credentials/:label` and `POST /api/mcp/:serverName/oauth/disconnect`. */
export const DisconnectView = z.object({
  disconnected: z.boolean(),
  /** The result of the revocation at the authorization server. `none`: there was nothing to revoke. */
  revoked: z.enum(['yes', 'failed', 'unsupported', 'none']),
});
export type DisconnectView = z.infer<typeof DisconnectView>;

/** Characters that are valid in a header, as for a token response. */
const token = z
  .string()
  .max(16_384)
  .regex(/^[\x21-\x7e]+$/, 'must be a token: visible ASCII characters without spaces');

const TEN_YEARS_S = 10 * 365 * 24 * 60 * 60;

/** `PUT /api/mcp/:serverName/credential`: stores a token that the caller obtained outside the gateway. */
export const ImportCredentialRequest = z.strictObject({
  accessToken: token,
  refreshToken: token.optional(),
  /** Seconds from now. */
  expiresIn: z.number().int().min(1).max(TEN_YEARS_S).optional(),
  scope: z.string().max(4_096).optional(),
  /** The issuer and the client of the token. Both must match the server. Required with a refresh token. */
  issuer: z.string().max(2_048).optional(),
  clientId: z.string().max(2_048).optional(),
  label: label.optional(),
});
export type ImportCredentialRequest = z.infer<typeof ImportCredentialRequest>;

/** The response. `probe`: the server's reaction to the token; `unreachable` if it did not answer. */
export const ImportedCredentialView = CredentialView.extend({
  probe: z.enum(['ok', 'unverified', 'unreachable']),
});
export type ImportedCredentialView = z.infer<typeof ImportedCredentialView>;

/** `PATCH /api/mcp/:serverName/credentials/:label`. */
export const CredentialChange = z.strictObject({ isDefault: z.literal(true) });

/** One step of `POST /api/mcp/:serverName/diagnose`, which explains why a call of this user works or fails. */
export const DiagnosisStep = z.object({
  step: z.enum([
    'policy',
    'variables',
    'address',
    'dns',
    'tls',
    'server',
    'metadata',
    'authorization_server',
    'client',
    'credential',
    'scopes',
    'exchange',
    'trust',
    'connection',
    'tools',
  ]),
  outcome: z.enum(['ok', 'failed', 'warning', 'skipped']),
  /** The finding in one sentence. */
  message: z.string(),
  /** What to do. */
  action: z.string().optional(),
  code: z.string().optional(),
  durationMs: z.number().optional(),
});
export type DiagnosisStep = z.infer<typeof DiagnosisStep>;

export const DiagnosisView = z.object({
  serverName: z.string(),
  ok: z.boolean(),
  /** The ID of the first failed step. */
  failedAt: z.string().optional(),
  steps: z.array(DiagnosisStep),
});
export type DiagnosisView = z.infer<typeof DiagnosisView>;

/** `POST /api/admin/credentials/diagnose`: the same for another user. No credential of that user is sent. */
export const DiagnoseUserRequest = z.strictObject({
  serverName: z.string().min(1).max(256),
  userId: z.string().min(1).max(256),
});

/** `POST /api/admin/credentials/reauth`: all users with a credential at this server must sign in again. */
export const ReauthCampaignRequest = z.strictObject({ serverName: z.string().min(1).max(256) });
export const ReauthCampaignView = z.object({ marked: z.number() });

/**
 * The message that the last page of a sign-in sends to its opener by BroadcastChannel, `postMessage` and
 * `localStorage`.
 */
export const FlowMessage = z.object({
  type: z.literal('behalf.oauth'),
  flowId: z.string(),
  ok: z.boolean(),
  error: z.string().optional(),
});
export type FlowMessage = z.infer<typeof FlowMessage>;

export { flowChannel } from './constants.ts';
