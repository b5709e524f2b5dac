import { z } from 'zod';

/** What goes wrong with a sign-in at a server, in words that never come from anybody else. */
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
  /** A path of ours to come back to, where no window can be opened. */
  returnTo: z.string().max(1_024).optional(),
  /** Which of several credentials; absent: the one in use, else `default`. */
  label: label.optional(),
  /** What it has to reach besides, as `_meta["behalf/auth"]` of a refused call says it. The authorization server asks. */
  scopes: z
    .string()
    .max(4_096)
    .regex(/^[!#-[\]-~]+( [!#-[\]-~]+)*$/, 'must be scope names separated by one space')
    .optional(),
});
export type StartFlowRequest = z.infer<typeof StartFlowRequest>;

/**
 * 201; 409 carries the same for the one that is pending already. `connectUrl` is an address of ours, `label` says which of
 * several credentials it is for.
 */
export const FlowView = z.object({
  flowId: z.string(),
  connectUrl: z.string(),
  expiresAt: z.number(),
  label: z.string(),
});
export type FlowView = z.infer<typeof FlowView>;

/** `GET /api/mcp/:serverName/oauth/asked?for=`: what stands in a link that an MCP client showed. */
export const ConsentQuery = z.strictObject({ for: z.string().min(1).max(200) });

/** `GET /api/mcp/oauth/status/:flowId?wait=`: milliseconds to wait for an end, at most 25,000. */
export const FlowStatusQuery = z.strictObject({
  wait: z.coerce.number().int().min(0).max(25_000).optional(),
});

export const FlowStatusView = z.object({
  status: z.enum(['PENDING', 'COMPLETED', 'FAILED']),
  completed: z.boolean(),
  failed: z.boolean(),
  error: z.enum(flowErrors).optional(),
  /** Whether the server answered with the new token: `unverified` when it also answers without one. */
  probe: z.enum(['ok', 'unverified', 'unreachable']).optional(),
  expiresAt: z.number(),
});
export type FlowStatusView = z.infer<typeof FlowStatusView>;

/** `GET /api/mcp/oauth/tokens/:flowId`: never a token. */
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

/** One credential of the caller at a server. Shows no part of a token. */
export const CredentialView = z.object({
  id: z.string(),
  server: z.string(),
  label: z.string(),
  kind: z.enum(['oauth_code', 'static']),
  isDefault: z.boolean(),
  status: z.enum(['active', 'rejected', 'revoked', 'unreadable', 'unbound']),
  /** Why its user has to act, when they have to. */
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
  /** What the authorization server said to it. `none`: there was nothing to revoke. */
  revoked: z.enum(['yes', 'failed', 'unsupported', 'none']),
});
export type DisconnectView = z.infer<typeof DisconnectView>;

/** What can stand in a header and cannot end it: the same as of an authorization server's answer. */
const token = z
  .string()
  .max(16_384)
  .regex(/^[\x21-\x7e]+$/, 'must be a token: visible ASCII characters without spaces');

const TEN_YEARS_S = 10 * 365 * 24 * 60 * 60;

/** `PUT /api/mcp/:serverName/credential`: the caller's own, from elsewhere. */
export const ImportCredentialRequest = z.strictObject({
  accessToken: token,
  refreshToken: token.optional(),
  /** Seconds from now. */
  expiresIn: z.number().int().min(1).max(TEN_YEARS_S).optional(),
  scope: z.string().max(4_096).optional(),
  /** What it was given for; each must be what the server has. Needed with a refresh token. */
  issuer: z.string().max(2_048).optional(),
  clientId: z.string().max(2_048).optional(),
  label: label.optional(),
});
export type ImportCredentialRequest = z.infer<typeof ImportCredentialRequest>;

/** Its answer. `probe`: how the server took the token; `unreachable` when it could not be asked. */
export const ImportedCredentialView = CredentialView.extend({
  probe: z.enum(['ok', 'unverified', 'unreachable']),
});
export type ImportedCredentialView = z.infer<typeof ImportedCredentialView>;

/** `PATCH /api/mcp/:serverName/credentials/:label`. */
export const CredentialChange = z.strictObject({ isDefault: z.literal(true) });

/** One step of `POST /api/mcp/:serverName/diagnose`: why a call of this user does or does not work. */
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
  /** What was found, in one sentence. */
  message: z.string(),
  /** What to do about it. */
  action: z.string().optional(),
  code: z.string().optional(),
  durationMs: z.number().optional(),
});
export type DiagnosisStep = z.infer<typeof DiagnosisStep>;

export const DiagnosisView = z.object({
  serverName: z.string(),
  ok: z.boolean(),
  /** The first step that failed. */
  failedAt: z.string().optional(),
  steps: z.array(DiagnosisStep),
});
export type DiagnosisView = z.infer<typeof DiagnosisView>;

/** `POST /api/admin/credentials/diagnose`: the same about somebody else, in whose name nothing is presented. */
export const DiagnoseUserRequest = z.strictObject({
  serverName: z.string().min(1).max(256),
  userId: z.string().min(1).max(256),
});

/** `POST /api/admin/credentials/reauth`: everybody who has one of this server has to sign in there again. */
export const ReauthCampaignRequest = z.strictObject({ serverName: z.string().min(1).max(256) });
export const ReauthCampaignView = z.object({ marked: z.number() });

/** What the page at the end of a sign-in tells its opener: BroadcastChannel, `postMessage` and `localStorage`. */
export const FlowMessage = z.object({
  type: z.literal('behalf.oauth'),
  flowId: z.string(),
  ok: z.boolean(),
  error: z.string().optional(),
});
export type FlowMessage = z.infer<typeof FlowMessage>;

export { flowChannel } from './constants.ts';
