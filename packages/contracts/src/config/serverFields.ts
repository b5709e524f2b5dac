import { z } from 'zod';
import { Access, ToolFilter } from './access.ts';
import { ApiKey } from './apiKey.ts';
import { OAuth } from './oauth.ts';
import { unusedKey } from './section.ts';
import { UserVariables } from './userVariables.ts';

/** Timers hold 31 bits; a larger delay would fire at once. */
const MAX_DELAY_MS = 2_147_483_647;
const MAX_ICON_LENGTH = 262_144;

const TITLE_PATTERN = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}'\u2019 -]*$/u;

/** Zero is refused: taken literally it is a timeout that has already passed. */
const milliseconds = z.int().positive().max(MAX_DELAY_MS);

function isIcon(value: string): boolean {
  if (/^https?:\/\//i.test(value) || /^data:image\//i.test(value)) return true;
  return !/^[a-z][a-z0-9+.-]*:/i.test(value) && !value.startsWith('//') && !value.includes('\\');
}

export const headerMap = z.record(z.string(), z.string());

/** What every server may say, whatever its transport. */
export const serverFields = {
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

/** What a server reached over the network may say besides. */
export const remoteFields = {
  headers: headerMap.optional().describe('Headers sent with every request. Values may contain placeholders.'),
  caFile: z
    .string()
    .min(1)
    .optional()
    .describe('PEM file of the CA that signed the server’s certificate. Behalf extension.'),
};
