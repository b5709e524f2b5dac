import { z } from 'zod';
import { ClientAssertionAudience } from './identityProviders.ts';
import { section, unusedKey } from './section.ts';
import { parseUrl } from './url.ts';

const aliasMap = z.record(z.string().min(1), z.string().min(1));

/** Names of a server, its tools and prompts at the MCP endpoint for all servers. */
export const EndpointServer = section({
  key: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Prefix of the tool and prompt names of this server, instead of the server name: up to 24 letters, digits, `_` and `-`, without `__`.',
    ),
  tools: aliasMap
    .default({})
    .describe(
      'Aliases of the tools of this server, by original tool name: letters, digits, `_` and `-`, without `__`.',
    ),
  prompts: aliasMap.default({}).describe('Aliases of the prompts of this server.'),
});
export type EndpointServer = z.output<typeof EndpointServer>;

/** The MCP endpoint `/mcp`, which offers all servers of a user. */
export const McpEndpoint = section({
  names: z
    .enum(['prefix', 'priority'])
    .default('prefix')
    .describe(
      '`prefix`: `<server>__<tool>`. `priority`: tools of the servers in `priority` keep their original names where possible.',
    ),
  priority: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Servers of this configuration file. If two servers have a tool with the same name, the first one keeps it.',
    ),
  servers: z
    .record(z.string().min(1), EndpointServer)
    .default({})
    .describe(
      'Prefixes and aliases, by server of this configuration file. They take precedence over generated names.',
    ),
  allowedOrigins: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Origins whose pages may use the MCP endpoints with a token, such as `https://app.example`. Empty: no cross-origin requests.',
    ),
});
export type McpEndpoint = z.output<typeof McpEndpoint>;

/** A host with optional scheme and port. A space, a path or a CIDR block would look like an entry and match nothing. */
const DOMAIN_PATTERN =
  /^(?:(?:https?|wss?):\/\/)?(?:\*\.)?([A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?\/?$/i;
const ADDRESS_PATTERN = /^(\[[0-9A-Fa-f:.]+\]|[^\s/:?#@*[\]\\]+):(\d{1,5})$/;

/** The pattern checks the form. This checks that the host is valid and the port exists. */
function isValidEntry(pattern: RegExp, value: string): boolean {
  const [, host = '', port = '1'] = pattern.exec(value) ?? [];
  if (host === '' || Number(port) < 1 || /^\.|\.\./.test(host)) return false;
  return parseUrl(`http://${host}:${port}/`) !== undefined;
}

const domainMessage =
  'must be a host or *.host, optionally with http, https, ws or wss and a port from 1 to 65535';
const addressMessage = 'must be host:port, without scheme, path, CIDR or spaces';

const addressList = z.array(
  z
    .string()
    .regex(ADDRESS_PATTERN, { message: addressMessage, abort: true })
    .refine((value) => isValidEntry(ADDRESS_PATTERN, value), addressMessage),
);

/** The operator's settings for an authorization server that servers refer to. */
export const OAuthIssuer = section({
  profile: z
    .enum(['entra'])
    .optional()
    .describe('`entra`: `resource` is omitted and S256 assumed, because its metadata states neither.'),
  pkce: z
    .enum(['required', 'assume-s256'])
    .default('required')
    .describe('`assume-s256`: use S256 although the metadata does not name it.'),
  resource: z.enum(['send', 'omit']).optional().describe('Whether RFC 8707 `resource` is sent.'),
  rotationGraceSeconds: z
    .int()
    .min(0)
    .max(300)
    .default(0)
    .describe('Seconds for which a rotated refresh token still works. 0: unknown.'),
  revokeOnReplace: z
    .enum(['per-token', 'never'])
    .default('never')
    .describe('`per-token`: revoking a replaced token does not affect the rest of its grant.'),
  clientAssertionAudience: ClientAssertionAudience.optional().describe(
    '`aud` of client assertions (`private_key_jwt`) at this authorization server. Absent: `issuer`.',
  ),
  origins: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Server origins that may receive tokens of this issuer, regardless of the author of the server.',
    ),
  endpointOrigins: z
    .array(z.string().min(1))
    .default([])
    .describe('Additional origins of its token, registration and revocation endpoints.'),
});
export type OAuthIssuer = z.output<typeof OAuthIssuer>;

export const McpSettings = section({
  allowedDomains: z
    .array(
      z
        .string()
        .regex(DOMAIN_PATTERN, { message: domainMessage, abort: true })
        .refine((value) => isValidEntry(DOMAIN_PATTERN, value), domainMessage),
    )
    .optional()
    .describe('Allowed server hosts: `host`, `*.host`, optional scheme and port. Absent: any public host.'),
  allowedAddresses: addressList
    .optional()
    .describe(
      'Private `host:port` addresses that any server may use. All other private addresses stay blocked.',
    ),
  operatorAddresses: addressList
    .optional()
    .describe(
      'Private `host:port` addresses that only servers of this file may use. Preferred over `allowedAddresses`. Behalf extension.',
    ),
  issuers: z
    .record(z.string().min(1), OAuthIssuer)
    .optional()
    .describe('Settings of authorization servers, by issuer. Behalf extension.'),
  endpoint: McpEndpoint.optional().describe(
    'The MCP endpoint `/mcp`: tool and prompt names, and allowed browser origins. Behalf extension.',
  ),
  catalogRecovery: unusedKey('LibreChat’s recovery timings for tool catalogs.'),
});
export type McpSettings = z.output<typeof McpSettings>;
