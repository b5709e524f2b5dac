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
import type { OpenIdSettings, ProviderMetadata } from './provider.ts';
import { TokenRefused } from './verifyJwt.ts';

const TIMEOUT_S = 15;

/** The gateway as a client of the provider, over our own door out. */
export function createOpenIdClient(
  { issuer, document }: ProviderMetadata,
  { clientId, clientSecret }: Pick<OpenIdSettings, 'clientId' | 'clientSecret'>,
  fetch: Fetch,
): Configuration {
  const client = new Configuration(
    document as unknown as ServerMetadata,
    clientId ?? '',
    undefined,
    chooseAuthentication(clientSecret, document.token_endpoint_auth_methods_supported),
  );
  client.timeout = TIMEOUT_S;
  client[customFetch] = (url, options) => rejectServerErrors(fetch(url, options as RequestInit));
  // The metadata lets plain http through for an issuer on loopback alone, and so does this.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  if (issuer.startsWith('http:')) allowInsecureRequests(client);
  return client;
}

/** A provider in trouble is not one that refuses: the one may be asked again. */
async function rejectServerErrors(pending: Promise<Response>): Promise<Response> {
  const response = await pending.catch(() => null);
  if (response && response.status < 500) return response;
  await response?.body?.cancel();
  throw new GatewayError('OPENID_UNAVAILABLE');
}

/** A provider that does not say takes the secret in the header (OpenID Connect Discovery 1.0, section 3). */
function chooseAuthentication(secret: string | null, supported: unknown): ClientAuth {
  if (secret === null) return None();
  const methods: readonly unknown[] = Array.isArray(supported) ? supported : ['client_secret_basic'];
  // The body first where both are offered: not every provider decodes the header as RFC 6749 encodes it.
  if (methods.includes('client_secret_post')) return ClientSecretPost(secret);
  return ClientSecretBasic(secret);
}

/**
 * What became of a login that failed. The error itself goes no further: the library's hold tokens, and the provider's
 * words are not ours to show.
 */
export function toLoginFailure(error: unknown): {
  readonly gatewayError: GatewayError;
  readonly reason: string;
} {
  const unwrapped = error instanceof Error && error.cause instanceof GatewayError ? error.cause : error;
  if (unwrapped instanceof GatewayError) return { gatewayError: unwrapped, reason: unwrapped.code };
  return { gatewayError: new GatewayError('OPENID_FAILED'), reason: reasonOf(error) };
}

/** Whether the provider answered, and refused what we asked for. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof WWWAuthenticateChallengeError ||
    (error instanceof ClientError && error.code === 'OAUTH_RESPONSE_IS_NOT_CONFORM')
  );
}

/** A code for the log: of a fixed set, or at least in the form of one. */
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
