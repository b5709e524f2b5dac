import { z } from 'zod';
import { section } from './section.ts';

/** On-Behalf-Of: the caller's own token is exchanged for one for this server. sse and streamable-http only. */
export const Obo = section({
  scopes: z
    .string()
    .refine((text) => text.trim() !== '', 'must not be empty')
    .describe('Scopes of the exchanged token, separated by spaces.'),
  provider: z
    .string()
    .min(1)
    .optional()
    .describe('An entry of `identityProviders`. Absent: the login provider (`OPENID_*`). Behalf extension.'),
  grant: z
    .enum(['jwt-bearer', 'token-exchange'])
    .optional()
    .describe(
      'RFC 7523 or RFC 8693. Absent: the grant of the provider, else `jwt-bearer`. Behalf extension.',
    ),
  audience: z
    .string()
    .min(1)
    .optional()
    .describe(
      '`audience` of the exchange; with `id-jag`, the issuer of one of its `resourceServers`. Behalf extension.',
    ),
  resource: z
    .string()
    .min(1)
    .optional()
    .describe(
      '`resource` of the exchange; with `id-jag`, absent: the address of the server. Behalf extension.',
    ),
});
export type Obo = z.output<typeof Obo>;

/** Scopes as a set: the order and doubled blanks of the file have no meaning. */
export function scopeList(scopes: string): string[] {
  return [...new Set(scopes.split(/\s+/).filter((scope) => scope !== ''))].sort();
}
