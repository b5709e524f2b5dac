import type { Clock, Fetch, Random } from '@behalf/kernel';
import { type OAuthClient, authenticateClient } from './clientAuthentication.ts';
import { postForm } from './tokenEndpoint.ts';

const TIMEOUT_MS = 5_000;

export interface RevocationRequest {
  readonly endpoint: string;
  readonly issuer: string;
  readonly client: OAuthClient;
  readonly refreshToken?: string | undefined;
  readonly accessToken?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly random: Random;
  /** For all of it together. */
  readonly timeoutMs?: number;
}

/**
 * RFC 7009: the refresh token, which is worth most, then the access token. True only when the authorization server said
 * so of both; one that cannot revoke access tokens says that they end with the grant.
 */
export async function revokeTokens(request: RevocationRequest): Promise<boolean> {
  const { endpoint, issuer, client, refreshToken, accessToken, headers = {}, fetch, clock, random } = request;
  const deadline = clock.now() + (request.timeoutMs ?? TIMEOUT_MS);

  async function revoke(token: string, hint: 'refresh_token' | 'access_token'): Promise<boolean> {
    const timeoutMs = deadline - clock.now();
    if (timeoutMs <= 0) return false;
    try {
      const clientAuth = await authenticateClient(client, { issuer, clock, random });
      const { status, text } = await postForm({
        ...{ url: endpoint, fetch, clock, timeoutMs },
        fields: { token, token_type_hint: hint, ...clientAuth.fields },
        headers: { ...headers, ...clientAuth.headers },
      });
      const isUnsupported = refreshToken !== undefined && hint === 'access_token' && isUnsupportedType(text);
      return status === 200 || (status === 400 && isUnsupported);
    } catch {
      return false;
    }
  }

  const isRefreshTokenRevoked = refreshToken === undefined || (await revoke(refreshToken, 'refresh_token'));
  const isAccessTokenRevoked = accessToken === undefined || (await revoke(accessToken, 'access_token'));
  return isRefreshTokenRevoked && isAccessTokenRevoked;
}

function isUnsupportedType(text: string): boolean {
  try {
    return (JSON.parse(text) as { error?: unknown } | null)?.error === 'unsupported_token_type';
  } catch {
    return false;
  }
}
