import type { ErrorCode, SignInProblem } from '@behalf/contracts';
import { GatewayError } from '../../errors/gatewayError.ts';

/** Why nobody can sign in at a server: for the log, and in a sentence for whoever tries. */
const problemDetails = {
  no_metadata: 'The server publishes no OAuth metadata.',
  no_authorization_server: 'The server does not name a usable authorization server.',
  resource_mismatch: 'The resource in the server’s metadata does not match the server’s URL.',
  metadata_invalid: 'The OAuth metadata of the server or of its authorization server is invalid.',
  issuer_mismatch:
    'The issuer in the authorization server’s metadata does not match the issuer that the server names.',
  pkce_missing: 'The authorization server does not support PKCE with S256.',
  dpop_unsupported:
    'Tokens for this server must be bound to a key (DPoP), but its authorization server does not support DPoP with ES256.',
  audience_missing:
    'No resource is sent to this authorization server, and the scopes do not name the audience of the token.',
  no_client:
    'No OAuth client is configured for this server, and the authorization server does not support client registration.',
  registration_refused: 'The authorization server refused to register the gateway as a client.',
  client_key_unusable: 'The private key of the OAuth client cannot be used.',
  not_fillable: 'The definition of the server contains placeholders that have no value.',
  not_offered: 'This server does not offer user sign-in.',
} as const satisfies Record<SignInProblem, string>;

export type { SignInProblem };

/** Ends a sign-in before it begins. Nothing that an outsider wrote is repeated. */
export class SignInImpossible extends GatewayError {
  readonly problem: SignInProblem;
  constructor(problem: SignInProblem, cause?: unknown) {
    super('MCP_AUTHORIZATION_UNAVAILABLE', { detail: problemDetails[problem], cause });
    this.problem = problem;
  }
}

/** It may work in a moment. */
export function createUnavailableError(
  cause?: unknown,
  code: ErrorCode = 'UPSTREAM_AUTH_UNAVAILABLE',
): GatewayError {
  return new GatewayError(code, { cause });
}
