import { z } from 'zod';
import { section } from './section.ts';

/** On-Behalf-Of: the caller's own token is exchanged for one for this server. sse and streamable-http only. */
export const Obo = section({
  scopes: z
    .string()
    .refine((text) => text.trim() !== '', 'must not be empty')
    .describe('Scopes of the exchanged token, separated by blanks.'),
  provider: z
    .string()
    .min(1)
    .optional()
    .describe('An entry of `identityProviders`. Absent: the login provider (`OPENID_*`). Own key of Behalf.'),
  grant: z
    .enum(['jwt-bearer', 'token-exchange'])
    .optional()
    .describe('RFC 7523 or RFC 8693. Absent: as the provider says, else `jwt-bearer`. Own key of Behalf.'),
  audience: z
    .string()
    .min(1)
    .optional()
    .describe(
      '`audience` of the exchange; with `id-jag`, which of its `resourceServers`. Own key of Behalf.',
    ),
  resource: z
    .string()
    .min(1)
    .optional()
    .describe('`resource` of the exchange; with `id-jag`, absent: the address. Own key of Behalf.'),
});
export type Obo = z.output<typeof Obo>;

/** Scopes as a set: the order and doubled blanks of the file have no meaning. */
export function scopeList(scopes: string): string[] {
  return [...new Set(scopes.split(/\s+/).filter((scope) => scope !== ''))].sort();
}
