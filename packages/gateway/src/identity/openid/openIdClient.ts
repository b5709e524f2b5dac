import type { Fetch } from '@behalf/kernel';
import {
  AuthorizationResponseError,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  None,
  ResponseBodyError,
  type ServerMetadata,
  WWWAuthenticateChallengeError,
  allowInsecureRequests,
  customFetch,
} from 'openid-client';
import { GatewayError } from '../../errors/gatewayError.ts';
import { type OpenIdSettings, type ProviderMetadata, selectClientAuthMethod } from './provider.ts';
import { TokenRefused } from './verifyJwt.ts';

const TIMEOUT_S = 15;

/** The gateway as an OAuth client of the provider. All requests use the given `fetch`. */
export function createOpenIdClient(
  { issuer, document }: ProviderMetadata,
  { clientId, clientSecret }: Pick<OpenIdSettings, 'clientId' | 'clientSecret'>,
  fetch: Fetch,
): Configuration {
  const client = new Configuration(
    document as unknown as ServerMetadata,
    clientId ?? '',
    undefined,
    createClientAuth(clientSecret, document),
  );
  client.timeout = TIMEOUT_S;
  client[customFetch] = (url, options) => rejectServerErrors(fetch(url, options as RequestInit));
  // The metadata check accepts plain HTTP only for an issuer on a loopback address.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  if (issuer.startsWith('http:')) allowInsecureRequests(client);
  return client;
}

/** Converts server errors to OPENID_UNAVAILABLE, so that they are not reported as a refused login. */
async function rejectServerErrors(pending: Promise<Response>): Promise<Response> {
  const response = await pending.catch(() => null);
  if (response && response.status < 500) return response;
  await response?.body?.cancel();
  throw new GatewayError('OPENID_UNAVAILABLE');
}

function createClientAuth(secret: string | null, document: ProviderMetadata['document']): ClientAuth {
  if (secret === null) return None();
  const method = selectClientAuthMethod(document);
  return method === 'client_secret_post' ? ClientSecretPost(secret) : ClientSecretBasic(secret);
}

/**
 * Replaces the error of a failed login. The errors of the library contain tokens, and the provider's message must not be shown.
 */
export function toLoginFailure(error: unknown): {
  readonly gatewayError: GatewayError;
  readonly reason: string;
} {
  const unwrapped = error instanceof Error && error.cause instanceof GatewayError ? error.cause : error;
  if (unwrapped instanceof GatewayError) return { gatewayError: unwrapped, reason: unwrapped.code };
  return { gatewayError: new GatewayError('OPENID_FAILED'), reason: reasonOf(error) };
}

/** Whether the provider answered the request with a refusal. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof WWWAuthenticateChallengeError ||
    (error instanceof ClientError && error.code === 'OAUTH_RESPONSE_IS_NOT_CONFORM')
  );
}

/** A code for the log. Limited to the syntax of an OAuth error code, because the provider chooses it. */
function reasonOf(error: unknown): string {
  if (error instanceof TokenRefused) return error.reason;
  const code =
    error instanceof AuthorizationResponseError || error instanceof ResponseBodyError
      ? error.error
      : error instanceof Error && 'code' in error
        ? error.code
        : undefined;
  return typeof code === 'string' && /^[A-Za-z_]{1,60}$/.test(code) ? code : 'unknown';
}
