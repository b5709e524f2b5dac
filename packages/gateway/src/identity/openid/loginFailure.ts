import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { GatewayError } from '../../errors/gatewayError.ts';
import { TokenRefused } from './tokenRefused.ts';

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
