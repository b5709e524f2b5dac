import type { Clock, Fetch, Random } from '@behalf/kernel';
import type { ReadNetworkError } from '../../upstream/upstreamError.ts';
import type { Prover } from '../dpop/dpop.ts';
import type { OAuthClient } from './oauthClient.ts';
import { authenticateClient, type ClientAuthenticationParams } from './clientAuthentication.ts';
import type { TokenEndpointResult } from './tokenEndpointResult.ts';
import { parseTokenResponse } from './tokenResponse.ts';
import { postForm, type FormResponse, type FormRequest } from './postForm.ts';

const TIMEOUT_MS = 10_000;

export interface OAuthTokenRequest {
  readonly endpoint: string;
  readonly issuer: string;
  readonly client: OAuthClient;
  /** Grant and parameters, without the client. */
  readonly form: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The guarded way there. */
  readonly fetch: Fetch;
  readonly readError: ReadNetworkError;
  readonly clock: Clock;
  readonly random: Random;
  readonly timeoutMs?: number;
  /** The key that the tokens are, or are to be, bound to (RFC 9449, section 5). */
  readonly prover?: Prover | undefined;
  /** Asked when nothing is left but sending; false: nothing is sent. */
  readonly canSend?: () => boolean;
}

/** One request to a token endpoint. Never rejects: what became of it is in the answer. */
export async function requestTokens({
  endpoint,
  issuer,
  client,
  form,
  headers = {},
  fetch,
  readError,
  clock,
  random,
  timeoutMs = TIMEOUT_MS,
  prover,
  canSend = () => true,
}: OAuthTokenRequest): Promise<TokenEndpointResult> {
  const startedAt = clock.now();

  async function send(): Promise<
    { response: FormResponse; sentAt: number; proof: string } | TokenEndpointResult
  > {
    let clientAuth: ClientAuthenticationParams;
    try {
      // Anew for each request: an assertion is good once.
      clientAuth = await authenticateClient(client, { issuer, clock, random });
    } catch {
      return { kind: 'misconfigured', error: 'client_key_unusable' };
    }
    if (!canSend()) return { kind: 'unavailable' };
    const sentAt = clock.now();
    const proof = prover?.createProof('POST', endpoint) ?? '';
    const request: FormRequest = {
      ...{ url: endpoint, fetch, clock, timeoutMs: timeoutMs - (sentAt - startedAt) },
      // Nothing that a definition adds takes the place of who we are.
      fields: { ...form, ...clientAuth.fields },
      headers: {
        ...lowerCaseNames(headers),
        ...clientAuth.headers,
        ...(prover && { dpop: proof }),
      },
    };
    try {
      return { response: await postForm(request), sentAt, proof };
    } catch (error) {
      return classifyFailure(error, readError);
    }
  }

  const first = await send();
  if ('kind' in first) return first;
  const hasNewNonce =
    prover?.recordNonce(endpoint, first.response.getHeader('dpop-nonce'), first.proof) === true;
  const result = parseTokenResponse(first.response, first.sentAt, clock);
  // Nothing was done there but saying what to repeat (RFC 9449, section 8). Once: who asks again asks for something else.
  if (!hasNewNonce || result.kind !== 'misconfigured' || result.error !== 'use_dpop_nonce') return result;
  // What is left must be enough for an answer: who hangs up early does not know what became of it.
  if (clock.now() - startedAt > timeoutMs / 2) return { kind: 'unavailable' };
  const second = await send();
  if ('kind' in second) return second;
  prover.recordNonce(endpoint, second.response.getHeader('dpop-nonce'), second.proof);
  return parseTokenResponse(second.response, second.sentAt, clock);
}

/** Only who knows that nothing was sent may say so. */
function classifyFailure(error: unknown, readError: ReadNetworkError): TokenEndpointResult {
  const networkError = readError(error);
  if (networkError?.requestSent !== false) return { kind: 'in_doubt' };
  return networkError.code === 'MCP_DOMAIN_NOT_ALLOWED'
    ? { kind: 'misconfigured', error: 'endpoint_not_allowed' }
    : { kind: 'unavailable' };
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
