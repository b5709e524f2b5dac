import { z } from 'zod';
import { Obo } from './identityProviders.ts';
import { OAuth } from './oauth.ts';
import { section, unusedKey } from './section.ts';

const names = z.array(z.string().min(1));

/** The users who may see a server of the file. By default: every user whose role has MCP_SERVERS.USE. */
export const Access = section({
  users: names
    .optional()
    .describe(
      'Ids of users, or emails of local accounts. An email in a token of an identity provider grants nothing.',
    ),
  groups: names.optional().describe('Group names from the token claim named by `OPENID_GROUPS_CLAIM`.'),
  roles: names.optional().describe('Role names, such as `ADMIN`.'),
});
export type Access = z.output<typeof Access>;

/** The tools of the server that are available. Users can restrict them further. */
export const ToolFilter = section({
  include: names.optional().describe('Globs of tool names to offer. Absent: all.'),
  exclude: names.optional().describe('Globs of tool names to hide; wins over `include`.'),
  readOnlyOnly: z.boolean().default(false).describe('Offer only tools that declare themselves read-only.'),
});
export type ToolFilter = z.output<typeof ToolFilter>;

/** The user variable that `apiKey.source: user` declares. */
export const apiKeyVariable = 'MCP_API_KEY';

export const ApiKey = section({
  source: z.enum(['admin', 'user']).describe('Who supplies the key: the operator (`key`), or each user.'),
  authorization_type: z
    .enum(['basic', 'bearer', 'custom'])
    .describe(
      '`Authorization: Basic`, `Authorization: Bearer`, or a custom header. For `basic`, `user:password` is encoded.',
    ),
  key: z
    .string()
    .min(1)
    .optional()
    .describe('The key, for `source: admin`. Take it from the environment: `${NAME}`.'),
  custom_header: z
    .string()
    .min(1)
    .default('X-Api-Key')
    .describe('Header name for `authorization_type: custom`.'),
});
export type ApiKey = z.output<typeof ApiKey>;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const UserVariable = section({
  title: z.string().min(1).describe('Label of the field in which a user enters the value.'),
  description: z.string().describe('Help text beside the field.'),
  sensitive: z.boolean().default(true).describe('Mask the value. Only an explicit `false` shows it.'),
});

/**
 * `{{NAME}}` refers to these names. Names of built-in placeholders are rejected, because a user's value would
 * replace a trusted one.
 */
export const UserVariables = z.record(
  z
    .string()
    .regex(
      NAME,
      'a variable name consists of letters, digits and underscores and does not begin with a digit',
    )
    .refine(
      (name) => !name.toUpperCase().startsWith('LIBRECHAT_'),
      'names beginning with LIBRECHAT_ are reserved',
    ),
  UserVariable,
);
export type UserVariables = z.output<typeof UserVariables>;

/** Timers use 31 bits. A longer delay would fire immediately. */
const MAX_DELAY_MS = 2_147_483_647;
const MAX_ICON_LENGTH = 262_144;

const TITLE_PATTERN = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}'\u2019 -]*$/u;

/** Zero is rejected: it would be a timeout that has already expired. */
const milliseconds = z.int().positive().max(MAX_DELAY_MS);

function isIcon(value: string): boolean {
  if (/^https?:\/\//i.test(value) || /^data:image\//i.test(value)) return true;
  return !/^[a-z][a-z0-9+.-]*:/i.test(value) && !value.startsWith('//') && !value.includes('\\');
}

const headerMap = z.record(z.string(), z.string());

/** Fields of all transports. */
const serverFields = {
  title: z
    .string()
    .regex(
      TITLE_PATTERN,
      'must start with a letter or digit; then letters, digits, spaces, hyphens and apostrophes',
    )
    .optional()
    .describe('Display name.'),
  description: z.string().max(4096).optional().describe('Purpose of the server.'),
  iconPath: z
    .string()
    .max(MAX_ICON_LENGTH)
    .refine(isIcon, 'must be an http(s) URL, a data:image URL or a path of this site')
    .optional()
    .describe('Icon: an http(s) URL, a `data:image/` URL or a path of this site.'),
  startup: z
    .boolean()
    .default(true)
    .describe('`false`: no inspection at start, no OAuth detection, no shared connection.'),
  timeout: milliseconds.default(60_000).describe('Milliseconds a request may take.'),
  initTimeout: milliseconds.default(30_000).describe('Milliseconds connecting may take.'),
  sseReadTimeout: milliseconds.default(300_000).describe('Milliseconds the long GET stream may stay silent.'),
  chatMenu: z.boolean().default(true).describe('Show the server in the picker of the chat.'),
  serverInstructions: z
    .union([z.boolean(), z.string()])
    .default(false)
    .describe(
      '`true`: pass the server’s own instructions to the model; text: pass this text; `false`: none.',
    ),
  requiresOAuth: z
    .boolean()
    .optional()
    .describe('Whether users must sign in at the server. Absent: probed, but never with `obo` or `apiKey`.'),
  oauth: OAuth.optional().describe('OAuth settings; absent ones are discovered.'),
  oauth_headers: headerMap
    .optional()
    .describe(
      'Headers for discovery, registration and token requests; sent to the server’s and the issuer’s origin only.',
    ),
  apiKey: ApiKey.optional().describe('A key in place of OAuth.'),
  customUserVars: UserVariables.optional().describe(
    'Values each user enters, used as `{{NAME}}`. Makes the server user-scoped.',
  ),
  auth: z
    .enum(['none', 'optional', 'required'])
    .optional()
    .describe(
      'Whether calls need a credential of the user. `optional`: calls are sent without a credential only if the user never had one. Behalf extension.',
    ),
  exclusive: z
    .boolean()
    .default(false)
    .describe(
      'One call per credential at a time, for servers that invalidate the old token on refresh. Behalf extension.',
    ),
  access: Access.optional().describe(
    'Users, groups and roles that can use this server. Absent: every user who may use servers. Behalf extension.',
  ),
  tools: ToolFilter.optional().describe('Which of its tools are offered. Behalf extension.'),
  trustAnnotations: z
    .boolean()
    .default(false)
    .describe(
      'Trust the server’s read-only and idempotent annotations: such a call is retried once if its outcome is unknown. Behalf extension.',
    ),
  idempotentTools: z
    .array(z.string().min(1))
    .default([])
    .describe('Idempotent tools: a call is retried once if its outcome is unknown. Behalf extension.'),
  era: z
    .enum(['auto', 'modern', 'legacy'])
    .default('auto')
    .describe('Protocol era: probe, 2026-07-28 only, or up to 2025-11-25. Behalf extension.'),
  relay: z
    .array(z.enum(['sampling', 'roots']))
    .default([])
    .describe('Requests of the server that are relayed to the client. Default: none. Behalf extension.'),
  oauthRefreshWaitTimeout: unusedKey(
    'LibreChat’s wait for a refresh; refreshes are coordinated by a lease here.',
  ),
  oauthRefreshCoordination: unusedKey('LibreChat’s switch for refresh coordination; it is always on here.'),
  oauthPersistenceWaitTimeout: unusedKey(
    'LibreChat’s wait for stored tokens; a token is stored before it is used here.',
  ),
};

/** Additional fields of servers that are reached over the network. */
const remoteFields = {
  headers: headerMap.optional().describe('Headers sent with every request. Values may contain placeholders.'),
  caFile: z
    .string()
    .min(1)
    .optional()
    .describe('PEM file of the CA that signed the server’s certificate. Behalf extension.'),
};

const url = z.string().min(1);

const httpFields = {
  ...serverFields,
  ...remoteFields,
  obo: Obo.optional().describe('Exchange the caller’s token for a token for this server.'),
  proxy: z
    .string()
    .min(1)
    .optional()
    .describe(
      'http, https, socks or socks5 URL; `${NAME}` only. Absent: `PROXY`, then the standard proxy variables.',
    ),
};

export const StdioServer = section({
  type: z.literal('stdio').default('stdio').describe('A child process.'),
  command: z.string().min(1).describe('Program to run. `${NAME}` is expanded, user values never are.'),
  args: z.array(z.string()).default([]).describe('Arguments of the program.'),
  env: headerMap
    .optional()
    .describe(
      'Environment of the process. From the gateway it inherits only PATH, HOME, LANG, LC_ALL and TZ, if set.',
    ),
  cwd: z.string().min(1).optional().describe('Working directory of the process. `${NAME}` is expanded.'),
  stderr: z
    .union([z.enum(['pipe', 'ignore', 'inherit']), z.int().nonnegative()])
    .default('pipe')
    .describe(
      'Where its error output goes: `pipe` to the debug log, `ignore` nowhere, `inherit` to the error output of the gateway. A number is a file descriptor.',
    ),
  ...serverFields,
}).describe('A server that runs as a child process.');

export const WebsocketServer = section({
  type: z.literal('websocket').default('websocket').describe('A websocket.'),
  url: url.describe('ws: or wss: URL.'),
  ...serverFields,
  ...remoteFields,
}).describe('A server reached over a websocket.');

export const SseServer = section({
  type: z
    .literal('sse')
    .default('sse')
    .describe('HTTP with server-sent events, the transport of MCP 2024-11-05.'),
  url: url.describe('http: or https: URL.'),
  ...httpFields,
}).describe('A server reached over HTTP and server-sent events.');

export const StreamableHttpServer = section({
  type: z
    .enum(['streamable-http', 'http'])
    .transform(() => 'streamable-http' as const)
    .describe(
      'Streamable HTTP; `http` is an alias. It must be written: a bare `url` means `sse`, as in LibreChat.',
    ),
  url: url.describe('http: or https: URL.'),
  ...httpFields,
}).describe('A server reached over streamable HTTP.');

export const McpServer = z.union([StdioServer, WebsocketServer, SseServer, StreamableHttpServer]);

export const transportSchemas = {
  stdio: StdioServer,
  websocket: WebsocketServer,
  sse: SseServer,
  'streamable-http': StreamableHttpServer,
} as const;

export type Transport = keyof typeof transportSchemas;
export type StdioServer = z.output<typeof StdioServer>;
export type WebsocketServer = z.output<typeof WebsocketServer>;
export type SseServer = z.output<typeof SseServer>;
export type StreamableHttpServer = z.output<typeof StreamableHttpServer>;
export type McpServer = StdioServer | WebsocketServer | SseServer | StreamableHttpServer;
