import { z } from 'zod';
import { section } from './section.ts';

const text = z.string().min(1);
const names = z.array(z.string().min(1));

/** The endpoints that an operator can set instead of discovering them. */
export const oauthUrls = ['authorization_url', 'token_url', 'revocation_endpoint'] as const;

/** OAuth settings of one server for users. Absent values are discovered. */
export const OAuth = section({
  authorization_url: text.optional().describe('Authorization endpoint. Discovered when absent.'),
  token_url: text.optional().describe('Token endpoint. Discovered when absent.'),
  revocation_endpoint: text.optional().describe('Revocation endpoint. Discovered when absent.'),
  redirect_uri: text
    .optional()
    .describe('Accepted for compatibility and ignored: the gateway always uses its own callback.'),
  client_id: text.optional().describe('Client id of a pre-registered client.'),
  client_secret: text
    .optional()
    .describe('Client secret; needs `client_id`, and `authorization_url` and `token_url`, or `issuer`.'),
  scope: z.string().optional().describe('Scopes to request, separated by spaces.'),
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
      'RFC 8707 `resource`: `send` (default), `omit` (Entra), or the value to send. Behalf extension.',
    ),
  grant: z
    .enum(['authorization_code', 'client_credentials'])
    .default('authorization_code')
    .describe(
      '`client_credentials`: one token of the gateway for all users; the server is shared. Behalf extension.',
    ),
  issuer: text
    .optional()
    .describe('The only accepted authorization server, compared exactly. Behalf extension.'),
  private_key_file: text
    .optional()
    .describe('PEM private key for client authentication with `private_key_jwt`. Behalf extension.'),
  private_key_id: text.optional().describe('`kid` of that key. Behalf extension.'),
  private_key_alg: z
    .enum(['RS256', 'PS256', 'ES256', 'EdDSA'])
    .optional()
    .describe('Absent: derived from the key. Behalf extension.'),
  dpop: z
    .enum(['auto', 'require', 'off'])
    .default('auto')
    .describe(
      'DPoP-bound tokens (RFC 9449). `auto`: if the server requests DPoP and its authorization server supports it; `require`; `off`. Behalf extension.',
    ),
  authorize_params: z
    .partialRecord(z.enum(['access_type', 'prompt', 'audience', 'domain_hint', 'login_hint']), z.string())
    .optional()
    .describe('Additional parameters of the authorization request. Behalf extension.'),
  legacyAuthDiscovery: z
    .boolean()
    .default(false)
    .describe(
      'Allow the server’s origin as issuer when it publishes no metadata (MCP 2025-03-26). Behalf extension.',
    ),
});
export type OAuth = z.output<typeof OAuth>;
