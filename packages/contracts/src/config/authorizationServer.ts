import { z } from 'zod';
import { section } from './section.ts';

/** A client that the operator registers, beside those that register themselves. */
export const FacadeClient = section({
  name: z.string().min(1).max(100).describe('Name shown to people who are asked for their consent.'),
  redirectUris: z
    .array(z.string().min(1))
    .default([])
    .describe('Where people are sent back to, letter by letter. None: nobody signs in with this client.'),
  clientSecret: z
    .string()
    .min(1)
    .optional()
    .describe('Its secret; needed for `idJagIssuers`. Take it from the environment: `${NAME}`.'),
});
export type FacadeClient = z.output<typeof FacadeClient>;

const FacadeRegistration = section({
  enabled: z.boolean().default(true).describe('False: clients cannot register themselves (RFC 7591).'),
  perMinute: z
    .int()
    .min(1)
    .max(1_000)
    .default(10)
    .describe(
      'Registrations that one network may make in a minute; all networks together make ten times as many.',
    ),
  most: z
    .int()
    .min(1)
    .max(100_000)
    .default(1_000)
    .describe(
      'Registered clients there may be at one time. The oldest that nobody agreed to makes room for the next.',
    ),
});

/** Our own authorization server, for identity providers that cannot serve MCP clients. */
export const AuthorizationServer = section({
  enabled: z
    .boolean()
    .default(false)
    .describe('True: issue tokens for `/mcp` at `PUBLIC_URL` + `/as`. A change needs a restart.'),
  clients: z
    .record(z.string().min(1), FacadeClient)
    .default({})
    .describe('Clients of the operator, by client id.'),
  registration: FacadeRegistration.prefault({}).describe(
    'Dynamic registration, for clients that have no metadata document.',
  ),
  replayWindowSeconds: z
    .int()
    .min(0)
    .max(60)
    .default(30)
    .describe(
      'For how long a refresh token that was used answers again, with the same successor: clients race.',
    ),
  idJagIssuers: z
    .array(z.string().min(1))
    .default([])
    .describe('Issuers whose ID-JAG (Enterprise-Managed Authorization) is accepted in place of a sign-in.'),
  idJagTenants: z
    .record(z.string().min(1), z.string().min(1).max(128))
    .default({})
    .describe(
      'By issuer, for those of `idJagIssuers` that are not the login’s: the tenant of their users. Absent: `default`.',
    ),
  caFile: z
    .string()
    .min(1)
    .optional()
    .describe('PEM file of the authority of the hosts where clients have their metadata documents.'),
});
export type AuthorizationServer = z.output<typeof AuthorizationServer>;
