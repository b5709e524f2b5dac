import { z } from 'zod';

const id = z.string().regex(/^[\w-]{1,64}$/, 'must be an id');

/**
 * What the server is asked with. A key is used for this one question: it is not kept, and no answer repeats it. It stands under
 * the names that `apiKey` of a definition has, so that what worked can be saved as it is.
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
  /** What the user got by signing in for this draft. */
  z.strictObject({ type: z.literal('draft'), draftId: id }),
]);
export type DiscoverAuth = z.output<typeof DiscoverAuth>;

/** `POST /api/mcp/discover-tools`: what a server has that nobody saved. */
export const DiscoverToolsRequest = z.strictObject({
  url: z.string().min(1).max(2_048),
  type: z.enum(['streamable-http', 'sse', 'websocket']).default('streamable-http'),
  auth: DiscoverAuth.default({ type: 'none' }),
  /** A path of ours that a sign-in comes back to, where no window can be opened. */
  returnTo: z.string().max(1_024).optional(),
});
export type DiscoverToolsRequest = z.output<typeof DiscoverToolsRequest>;

/** A tool of a server that nobody saved. Its texts are the server's: data, never markup. What is too long is cut. */
export const DiscoveredTool = z.strictObject({
  name: z.string(),
  title: z.string().optional(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  /** The schema is too large to be shown here: `inputSchema` says no more than that it is an object. */
  schemaOmitted: z.literal(true).optional(),
});
export type DiscoveredTool = z.output<typeof DiscoveredTool>;

/**
 * Why a credential was refused, as far as a server says it. `key`: the key or token that was sent along. `audience`: the token of the
 * sign-in is not for this address, or the server does not know its issuer. `scopes`: it does not reach far enough. `forbidden`: the
 * account may not.
 */
export const rejectionHints = ['key', 'audience', 'scopes', 'forbidden'] as const;
export type RejectionHint = (typeof rejectionHints)[number];

/** Why a server that refuses us cannot be signed in at. All but the first: it says something, and that cannot be used. */
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

/** Its answer, 200 for each of these. A policy is a 403, a server that does not answer as it should a 502. */
export const DiscoverToolsView = z.discriminatedUnion('outcome', [
  z.strictObject({
    outcome: z.literal('tools'),
    tools: z.array(DiscoveredTool),
    /** There are more than these. */
    incomplete: z.literal(true).optional(),
    /** Of the draft whose sign-in was used: `draft` of `POST /api/mcp/servers` takes the sign-in along. */
    draftId: z.string().optional(),
    /** Until then, in milliseconds since 1970. */
    expiresAt: z.number().optional(),
  }),
  z.strictObject({
    outcome: z.literal('authorization_required'),
    draftId: z.string(),
    /** The sign-in to go on with: `connectUrl` is a page of ours, its end is told as that of every sign-in. */
    flowId: z.string(),
    connectUrl: z.string(),
    /** Of the draft. The sign-in may end before it. */
    expiresAt: z.number(),
    flowExpiresAt: z.number(),
  }),
  z.strictObject({
    outcome: z.literal('credential_rejected'),
    hint: z.enum(rejectionHints),
    draftId: z.string().optional(),
    expiresAt: z.number().optional(),
    /** For whom the token of the sign-in was asked, and what it reaches. */
    resource: z.string().optional(),
    scopes: z.string().optional(),
    /** What the server wants besides. */
    wantedScopes: z.string().optional(),
  }),
  z.strictObject({ outcome: z.literal('no_oauth_metadata'), reason: z.enum(signInProblems) }),
]);
export type DiscoverToolsView = z.output<typeof DiscoverToolsView>;
