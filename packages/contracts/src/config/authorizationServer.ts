import { z } from 'zod';
import { section } from './section.ts';

/** A client that the operator registers, in addition to clients that register themselves. */
export const RegisteredClient = section({
  name: z.string().min(1).max(100).describe('Name shown to users on the consent page.'),
  redirectUris: z
    .array(z.string().min(1))
    .default([])
    .describe('Allowed redirect URIs, compared exactly. Empty: users cannot sign in with this client.'),
  clientSecret: z
    .string()
    .min(1)
    .optional()
    .describe('Client secret; required for `idJagIssuers`. Take it from the environment: `${NAME}`.'),
});
export type RegisteredClient = z.output<typeof RegisteredClient>;

const ClientRegistration = section({
  enabled: z.boolean().default(true).describe('False: clients cannot register themselves (RFC 7591).'),
  perMinute: z
    .int()
    .min(1)
    .max(1_000)
    .default(10)
    .describe(
      'Registrations that one network may make per minute; all networks together may make ten times as many.',
    ),
  most: z
    .int()
    .min(1)
    .max(100_000)
    .default(1_000)
    .describe(
      'Maximum number of registered clients. A new client replaces the oldest one without a consent.',
    ),
});

/** The gateway's own authorization server, for identity providers that cannot serve MCP clients. */
export const AuthorizationServer = section({
  enabled: z
    .boolean()
    .default(false)
    .describe('True: issue tokens for `/mcp` at `PUBLIC_URL` + `/as`. A change needs a restart.'),
  clients: z
    .record(z.string().min(1), RegisteredClient)
    .default({})
    .describe('Clients of the operator, by client id.'),
  registration: ClientRegistration.prefault({}).describe(
    'Dynamic registration, for clients that have no metadata document.',
  ),
  replayWindowSeconds: z
    .int()
    .min(0)
    .max(60)
    .default(30)
    .describe(
      'Seconds for which a used refresh token returns the same successor again, because clients may send it concurrently.',
    ),
  idJagIssuers: z
    .array(z.string().min(1))
    .default([])
    .describe('Issuers whose ID-JAG (Enterprise-Managed Authorization) is accepted in place of a sign-in.'),
  idJagTenants: z
    .record(z.string().min(1), z.string().min(1).max(128))
    .default({})
    .describe(
      'Tenant of the users, by issuer, for entries of `idJagIssuers` other than the login issuer. Absent: `default`.',
    ),
  caFile: z
    .string()
    .min(1)
    .optional()
    .describe('PEM file of the CA of the hosts that serve client metadata documents.'),
});
export type AuthorizationServer = z.output<typeof AuthorizationServer>;
