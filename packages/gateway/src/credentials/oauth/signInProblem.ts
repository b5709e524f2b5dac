import type { ErrorCode, SignInProblem } from '@behalf/contracts';
import { GatewayError } from '../../errors/gatewayError.ts';

/** Why nobody can sign in at a server: for the log, and in a sentence for whoever tries. */
const sentences = {
  no_metadata: 'The server does not say where its users sign in.',
  no_authorization_server: 'The server names no authorization server that can be used.',
  resource_mismatch: 'The server’s metadata speaks of another address than the one that is called.',
  metadata_invalid: 'The metadata of the server, or of its authorization server, cannot be used.',
  issuer_mismatch: 'The authorization server calls itself by another name than the server does.',
  pkce_missing: 'The authorization server does not offer PKCE with S256.',
  dpop_unsupported:
    'Tokens for this server have to be bound to a key, which its authorization server does not offer with ES256.',
  audience_missing:
    'No resource is sent to this authorization server, and the scopes do not say for whom a token is.',
  no_client: 'There is no OAuth client for this server, and none can be registered.',
  registration_refused: 'The authorization server did not register us as a client.',
  client_key_unusable: 'The private key of the OAuth client cannot be used.',
  not_fillable: 'The definition of the server needs values that are not there.',
  not_offered: 'Users do not sign in at this server.',
} as const satisfies Record<SignInProblem, string>;

export type { SignInProblem };

/** Ends a sign-in before it begins. Nothing that an outsider wrote is repeated. */
export class SignInImpossible extends GatewayError {
  readonly problem: SignInProblem;
  constructor(problem: SignInProblem, cause?: unknown) {
    super('MCP_AUTHORIZATION_UNAVAILABLE', { detail: sentences[problem], cause });
    this.problem = problem;
  }
}

/** It may work in a moment. */
export function authorizationServerAway(
  cause?: unknown,
  code: ErrorCode = 'UPSTREAM_AUTH_UNAVAILABLE',
): GatewayError {
  return new GatewayError(code, { cause });
}
