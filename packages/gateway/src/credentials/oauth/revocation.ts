import type { Clock, Fetch, Random } from '@behalf/kernel';
import { type OAuthClient, authenticateClient } from './clientAuthentication.ts';
import { parseJsonObject, postForm } from './tokenRequest.ts';

const TIMEOUT_MS = 5_000;

export interface RevocationRequest {
  readonly endpoint: string;
  readonly issuer: string;
  /** Audience of the client assertion if the operator chose `token_endpoint` (ADR 34). */
  readonly tokenEndpoint?: string;
  readonly client: OAuthClient;
  readonly refreshToken?: string | undefined;
  readonly accessToken?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly random: Random;
  /** For both requests together. */
  readonly timeoutMs?: number;
}

/**
 * RFC 7009. Revokes the refresh token first, because it is valid longest, then the access token. Returns true only if the
 * authorization server confirmed both. A server that cannot revoke access tokens (`unsupported_token_type`) ends them with the grant.
 */
export async function revokeTokens(request: RevocationRequest): Promise<boolean> {
  const { endpoint, issuer, client, refreshToken, accessToken, headers = {}, fetch, clock, random } = request;
  const { tokenEndpoint = issuer } = request;
  const deadline = clock.now() + (request.timeoutMs ?? TIMEOUT_MS);

  async function revoke(token: string, hint: 'refresh_token' | 'access_token'): Promise<boolean> {
    const timeoutMs = deadline - clock.now();
    if (timeoutMs <= 0) return false;
    try {
      const clientAuth = await authenticateClient(client, { issuer, tokenEndpoint, clock, random });
      const { status, text = '' } = await postForm({
        ...{ url: endpoint, fetch, clock, timeoutMs },
        fields: { token, token_type_hint: hint, ...clientAuth.fields },
        headers: { ...headers, ...clientAuth.headers },
      });
      if (status === 200) return true;
      const isUnsupported = parseJsonObject(text)?.['error'] === 'unsupported_token_type';
      return status === 400 && refreshToken !== undefined && hint === 'access_token' && isUnsupported;
    } catch {
      return false;
    }
  }

  const isRefreshTokenRevoked = refreshToken === undefined || (await revoke(refreshToken, 'refresh_token'));
  const isAccessTokenRevoked = accessToken === undefined || (await revoke(accessToken, 'access_token'));
  return isRefreshTokenRevoked && isAccessTokenRevoked;
}
