import { z } from 'zod';

const id = z.string().regex(/^[\w-]{1,64}$/, 'must be an id');

/**
 * The credential for the request. A key is used once, and neither stored nor returned. The fields have the names of
 * `apiKey` in a definition, so that a working input can be saved unchanged.
 */
export const DiscoverAuth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({
    type: z.literal('key'),
    authorization_type: z.enum(['bearer', 'basic', 'custom']).default('bearer'),
    /** For `custom`. */
    custom_header: z.string().min(1).max(256).optional(),
    key: z.string().min(1).max(8_192),
  }),
  /** The sign-in that the user completed for this draft. */
  z.strictObject({ type: z.literal('draft'), draftId: id }),
]);
export type DiscoverAuth = z.output<typeof DiscoverAuth>;

/** `POST /api/mcp/discover-tools`: lists the tools of a server that is not saved. */
export const DiscoverToolsRequest = z.strictObject({
  url: z.string().min(1).max(2_048),
  type: z.enum(['streamable-http', 'sse', 'websocket']).default('streamable-http'),
  auth: DiscoverAuth.default({ type: 'none' }),
  /** A path of the gateway to return to after the sign-in, if no window can be opened. */
  returnTo: z.string().max(1_024).optional(),
});
export type DiscoverToolsRequest = z.output<typeof DiscoverToolsRequest>;

/**
 * A tool of a server that is not saved. Its texts come from the server: data, never markup. Long texts are
 * truncated.
 */
export const DiscoveredTool = z.strictObject({
  name: z.string(),
  title: z.string().optional(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  /** The schema was too large. `inputSchema` then only says that it is an object. */
  schemaOmitted: z.literal(true).optional(),
});
export type DiscoveredTool = z.output<typeof DiscoveredTool>;

/**
 * Why the server refused the credential. `key`: the given key or token is invalid. `audience`: the token is not for
 * this URL, or the server does not trust its issuer. `scopes`: insufficient scopes. `forbidden`: the account has no
 * access.
 */
export const rejectionHints = ['key', 'audience', 'scopes', 'forbidden'] as const;
export type RejectionHint = (typeof rejectionHints)[number];

/**
 * Why no sign-in is possible at a server that requires one. Except for the first, the server returned metadata that
 * cannot be used.
 */
export const signInProblems = [
  'no_metadata',
  'no_authorization_server',
  'resource_mismatch',
  'metadata_invalid',
  'issuer_mismatch',
  'pkce_missing',
  'dpop_unsupported',
  'audience_missing',
  'no_client',
  'registration_refused',
  'client_key_unusable',
  'not_fillable',
  'not_offered',
] as const;
export type SignInProblem = (typeof signInProblems)[number];

/** The response, with status 200. A denied URL is a 403, an invalid answer of the server a 502. */
export const DiscoverToolsView = z.discriminatedUnion('outcome', [
  z.strictObject({
    outcome: z.literal('tools'),
    tools: z.array(DiscoveredTool),
    /** The server has more tools. */
    incomplete: z.literal(true).optional(),
    /** The draft whose sign-in was used. Pass it as `draft` to `POST /api/mcp/servers` to keep the sign-in. */
    draftId: z.string().optional(),
    /** When the draft expires, in milliseconds since the epoch. */
    expiresAt: z.number().optional(),
  }),
  z.strictObject({
    outcome: z.literal('authorization_required'),
    draftId: z.string(),
    /** The sign-in to continue with. `connectUrl` is a page of the gateway. */
    flowId: z.string(),
    connectUrl: z.string(),
    /** When the draft expires. The sign-in may expire earlier. */
    expiresAt: z.number(),
    flowExpiresAt: z.number(),
  }),
  z.strictObject({
    outcome: z.literal('credential_rejected'),
    hint: z.enum(rejectionHints),
    draftId: z.string().optional(),
    expiresAt: z.number().optional(),
    /** The resource and scopes of the token. */
    resource: z.string().optional(),
    scopes: z.string().optional(),
    /** The additional scopes that the server requires. */
    wantedScopes: z.string().optional(),
  }),
  z.strictObject({ outcome: z.literal('no_oauth_metadata'), reason: z.enum(signInProblems) }),
]);
export type DiscoverToolsView = z.output<typeof DiscoverToolsView>;
