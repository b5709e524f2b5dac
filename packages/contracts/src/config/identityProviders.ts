import { z } from 'zod';
import { section } from './section.ts';
import { parseUrl } from './url.ts';

/** The only audience of a client assertion (RFC 7523): the issuer identifier, or the URL of the token endpoint. */
export const ClientAssertionAudience = z.enum(['issuer', 'token_endpoint']);

/**
 * On-Behalf-Of: the gateway exchanges the caller's token for one for this server. Only for `sse` and
 * `streamable-http`.
 */
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

/** Splits scopes. Order and repeated spaces have no meaning. */
export function scopeList(scopes: string): string[] {
  return [...new Set(scopes.split(/\s+/).filter((scope) => scope !== ''))].sort();
}

export const ExchangeTarget = section({
  scopes: z.array(z.string().min(1)).min(1).describe('Scopes that may be requested.'),
  origins: z
    .array(z.string().min(1))
    .min(1)
    .describe('Origins that may receive tokens with these scopes: `https://host[:port]`.'),
});
export type ExchangeTarget = z.output<typeof ExchangeTarget>;

/** An authorization server that accepts identity assertions (ID-JAG), and the client there. */
export const ResourceAuthorizationServer = section({
  issuer: z
    .string()
    .min(1)
    .describe('Issuer, which is the audience of the assertion. Its metadata names the token endpoint.'),
  tokenEndpoint: z.string().min(1).optional().describe('Token endpoint, in place of discovery.'),
  clientId: z
    .string()
    .min(1)
    .describe('Client id of the gateway at this server. The identity provider must know it too.'),
  clientSecret: z
    .string()
    .min(1)
    .optional()
    .describe('Client secret. Take it from the environment: `${NAME}`.'),
  certificateFile: z.string().min(1).optional().describe('PEM certificate of `privateKeyFile`.'),
  privateKeyFile: z
    .string()
    .min(1)
    .optional()
    .describe('PEM private key for client authentication (`private_key_jwt`), in place of a secret.'),
  clientAuth: z
    .enum(['basic', 'post', 'private_key_jwt'])
    .optional()
    .describe(
      'Client authentication method. Absent: `private_key_jwt` with a `privateKeyFile`, else `basic`.',
    ),
  clientAssertionAudience: ClientAssertionAudience.optional().describe(
    '`aud` of client assertions signed with `privateKeyFile`. Absent: `issuer`.',
  ),
  caFile: z.string().min(1).optional().describe('PEM file of the CA that signed its certificate.'),
});
export type ResourceAuthorizationServer = z.output<typeof ResourceAuthorizationServer>;

/** A provider for token exchange. Token endpoints come only from this file, never from a user-defined server. */
export const IdentityProvider = section({
  type: z
    .enum(['entra', 'jwt-bearer', 'token-exchange', 'id-jag'])
    .describe('Entra OBO, RFC 7523, RFC 8693, or an identity assertion (enterprise-managed authorization).'),
  issuer: z.string().min(1).optional().describe('Issuer; its metadata names the token endpoint.'),
  authority: z
    .string()
    .min(1)
    .optional()
    .describe('Entra authority, tenant included. Absent: `issuer`, else `OPENID_ISSUER`.'),
  tokenEndpoint: z.string().min(1).optional().describe('Token endpoint, in place of discovery.'),
  clientId: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Client id. Absent: the login client (`OPENID_CLIENT_ID` and its secret), at the login provider only.',
    ),
  clientSecret: z
    .string()
    .min(1)
    .optional()
    .describe('Client secret. Take it from the environment: `${NAME}`.'),
  certificateFile: z
    .string()
    .min(1)
    .optional()
    .describe('PEM certificate of the client, in place of a secret.'),
  privateKeyFile: z.string().min(1).optional().describe('PEM private key that belongs to `certificateFile`.'),
  assertionFile: z
    .string()
    .min(1)
    .optional()
    .describe('File that holds a federated client assertion, read for each exchange.'),
  clientAuth: z
    .enum(['basic', 'post', 'private_key_jwt'])
    .optional()
    .describe(
      'Client authentication method (not for `entra`). Absent: `private_key_jwt` with a `privateKeyFile`, else `basic`.',
    ),
  clientAssertionAudience: ClientAssertionAudience.optional().describe(
    '`aud` of client assertions signed with `privateKeyFile` (not for `entra`). Absent: `issuer`, or `token_endpoint` if the entry has no `issuer`.',
  ),
  parameters: z
    .record(z.string().min(1), z.string())
    .optional()
    .describe('Additional form fields of every exchange. Not for `entra`.'),
  subjectTokenType: z
    .string()
    .min(1)
    .optional()
    .describe('`subject_token_type` of RFC 8693. Absent: `urn:ietf:params:oauth:token-type:access_token`.'),
  subject: z
    .enum(['id_token', 'refresh_token', 'auto'])
    .optional()
    .describe(
      'For `id-jag`: which token of the sign-in is the subject token. `refresh_token`: for providers with short-lived ID tokens; `auto`: the ID token until it expires, then the refresh token. Absent: `id_token`.',
    ),
  requestedTokenType: z
    .string()
    .min(1)
    .optional()
    .describe('`requested_token_type` of RFC 8693. Absent: not sent.'),
  actorTokenFile: z
    .string()
    .min(1)
    .optional()
    .describe('File that holds the `actor_token` of RFC 8693 (a JWT), read for each exchange.'),
  dpop: z
    .enum(['require', 'off'])
    .optional()
    .describe(
      'Bind tokens to a key of each user (DPoP, RFC 9449); with `id-jag`, the tokens of the second exchange. Absent: `off`. Not for `entra`.',
    ),
  resourceServers: z
    .array(ResourceAuthorizationServer)
    .min(1)
    .optional()
    .describe(
      'For `id-jag`: the authorization servers that accept its assertions. If there are several, `obo.audience` selects one, else the server’s metadata does. Servers outside this list are never contacted.',
    ),
  caFile: z.string().min(1).optional().describe('PEM file of the CA that signed the provider’s certificate.'),
  targets: z
    .array(ExchangeTarget)
    .min(1)
    .optional()
    .describe(
      'Which scopes may go to which origins. If present, every OBO server of this provider must match an entry.',
    ),
});
export type IdentityProvider = z.output<typeof IdentityProvider>;

export const IdentityProviders = z.record(
  z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9_-]*$/,
      'a provider name consists of letters, digits, hyphens and underscores',
    ),
  IdentityProvider,
);

/**
 * Whether one entry allows all these scopes at this origin. Checked when the configuration is loaded, when a server
 * is stored and before each exchange: a token sent to the wrong server is leaked.
 */
export function matchesTarget(targets: readonly ExchangeTarget[], scopes: string, url: string): boolean {
  const origin = originOf(url);
  const requestedScopes = scopeList(scopes);
  // Without scopes, every entry would match and the provider would choose the scopes.
  if (origin === undefined || requestedScopes.length === 0) return false;
  return targets.some(
    (target) =>
      requestedScopes.every((scope) => target.scopes.includes(scope)) &&
      target.origins.some((entry) => originOf(entry) === origin),
  );
}

/** Scheme, host and effective port. */
export function originOf(url: string): string | undefined {
  const origin = parseUrl(url)?.origin;
  return origin === 'null' ? undefined : origin;
}
