import { z } from 'zod';
import { section } from './section.ts';

const text = z.string().min(1);
const names = z.array(z.string().min(1));

/** The endpoints an operator may write down instead of having them discovered. */
export const oauthUrls = ['authorization_url', 'token_url', 'revocation_endpoint'] as const;

/** Per-user OAuth of one server. What is absent is discovered. */
export const OAuth = section({
  authorization_url: text.optional().describe('Authorization endpoint. Discovered when absent.'),
  token_url: text.optional().describe('Token endpoint. Discovered when absent.'),
  revocation_endpoint: text.optional().describe('Revocation endpoint. Discovered when absent.'),
  redirect_uri: text
    .optional()
    .describe('Accepted for compatibility and ignored: the redirect is always our own callback.'),
  client_id: text.optional().describe('Client id of a pre-registered client.'),
  client_secret: text
    .optional()
    .describe('Client secret; needs `client_id`, and `authorization_url` and `token_url`, or `issuer`.'),
  scope: z.string().optional().describe('Scopes to ask for, separated by blanks.'),
  token_exchange_method: z
    .enum(['default_post', 'basic_auth_header'])
    .optional()
    .describe('Forces how the client authenticates at the token endpoint.'),
  grant_types_supported: names.optional().describe('Default `authorization_code`, `refresh_token`.'),
  token_endpoint_auth_methods_supported: names
    .optional()
    .describe('Default basic and post; the order has no meaning.'),
  response_types_supported: names.optional().describe('Default `code`.'),
  code_challenge_methods_supported: names
    .optional()
    .describe('Must contain `S256`: it is the only method used.'),
  skip_code_challenge_check: z
    .boolean()
    .optional()
    .describe('Use S256 although the authorization server does not advertise it.'),
  audience: text.optional().describe('`audience` parameter for the authorize endpoint.'),
  forward_audience_on_refresh: z.boolean().default(true).describe('Send `audience` when refreshing too.'),
  revocation_endpoint_auth_methods_supported: names
    .optional()
    .describe('Client authentication at the revocation endpoint.'),
  resource: text
    .optional()
    .describe(
      'RFC 8707 `resource`: `send` (default), `omit` (Entra), or the value to send. Own key of Behalf.',
    ),
  grant: z
    .enum(['authorization_code', 'client_credentials'])
    .default('authorization_code')
    .describe(
      '`client_credentials`: one token of ours for everybody; the server is shared. Own key of Behalf.',
    ),
  issuer: text
    .optional()
    .describe(
      'The only authorization server that counts, compared character by character. Own key of Behalf.',
    ),
  private_key_file: text
    .optional()
    .describe('PEM private key: the client proves itself with `private_key_jwt`. Own key of Behalf.'),
  private_key_id: text.optional().describe('`kid` of that key. Own key of Behalf.'),
  private_key_alg: z
    .enum(['RS256', 'PS256', 'ES256', 'EdDSA'])
    .optional()
    .describe('Absent: what fits the key. Own key of Behalf.'),
  dpop: z
    .enum(['auto', 'require', 'off'])
    .default('auto')
    .describe(
      'Tokens that are bound to a key (RFC 9449): `auto`, where the server asks for it and its authorization server can; `require`; `off`. Own key of Behalf.',
    ),
  authorize_params: z
    .partialRecord(z.enum(['access_type', 'prompt', 'audience', 'domain_hint', 'login_hint']), z.string())
    .optional()
    .describe('Further parameters of the authorize request. Own key of Behalf.'),
  legacyAuthDiscovery: z
    .boolean()
    .default(false)
    .describe(
      'Allow the server’s origin as issuer when it publishes no metadata (MCP 2025-03-26). Own key of Behalf.',
    ),
});
export type OAuth = z.output<typeof OAuth>;
