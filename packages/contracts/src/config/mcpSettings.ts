import { z } from 'zod';
import { McpEndpoint } from './mcpEndpoint.ts';
import { parseUrl } from './parseUrl.ts';
import { section, unusedKey } from './section.ts';

/** A blank, a path or a CIDR would read as an entry and match nothing; the scheme and port are optional. */
const DOMAIN =
  /^(?:(?:https?|wss?):\/\/)?(?:\*\.)?([A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?\/?$/i;
const ADDRESS = /^(\[[0-9A-Fa-f:.]+\]|[^\s/:?#@*[\]\\]+):(\d{1,5})$/;

/** The shape has been checked; here the host must be one that can be asked for, on a port that exists. */
function isReachable(pattern: RegExp, value: string): boolean {
  const [, host = '', port = '1'] = pattern.exec(value) ?? [];
  if (host === '' || Number(port) < 1 || /^\.|\.\./.test(host)) return false;
  return parseUrl(`http://${host}:${port}/`) !== undefined;
}

const domain = 'must be a host or *.host, either with http, https, ws or wss and a port from 1 to 65535';
const address = 'must be host:port, without scheme, path, CIDR or blanks';

const addresses = z.array(
  z
    .string()
    .regex(ADDRESS, { message: address, abort: true })
    .refine((value) => isReachable(ADDRESS, value), address),
);

/** What the operator knows of an authorization server that servers name. */
export const OAuthIssuer = section({
  profile: z
    .enum(['entra'])
    .optional()
    .describe('`entra`: `resource` is omitted and S256 assumed, because it says neither.'),
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
    .describe('For how long a refresh token still answers after it was rotated. 0: unknown.'),
  revokeOnReplace: z
    .enum(['per-token', 'never'])
    .default('never')
    .describe('`per-token`: revoking a replaced token leaves the rest of its grant alone.'),
  origins: z
    .array(z.string().min(1))
    .default([])
    .describe('Origins of servers that may be sent tokens of this issuer, whoever defined them.'),
  endpointOrigins: z
    .array(z.string().min(1))
    .default([])
    .describe('Further origins that its token, registration and revocation endpoints may have.'),
});
export type OAuthIssuer = z.output<typeof OAuthIssuer>;

export const McpSettings = section({
  allowedDomains: z
    .array(
      z
        .string()
        .regex(DOMAIN, { message: domain, abort: true })
        .refine((value) => isReachable(DOMAIN, value), domain),
    )
    .optional()
    .describe(
      'Hosts that servers may have: `host`, `*.host`, optional scheme and port. Absent: any public host.',
    ),
  allowedAddresses: addresses
    .optional()
    .describe(
      '`host:port` entries in private space that any server may reach. The address check is never off otherwise.',
    ),
  operatorAddresses: addresses
    .optional()
    .describe(
      '`host:port` entries in private space that servers of this file alone may reach. Prefer it. Own key of Behalf.',
    ),
  issuers: z
    .record(z.string().min(1), OAuthIssuer)
    .optional()
    .describe('What is known of authorization servers, by issuer. Own key of Behalf.'),
  endpoint: McpEndpoint.optional().describe(
    'The MCP endpoint `/mcp`: what things are called there, and which pages may use it. Own key of Behalf.',
  ),
  catalogRecovery: unusedKey('LibreChat’s recovery timings for tool catalogs.'),
});
export type McpSettings = z.output<typeof McpSettings>;
