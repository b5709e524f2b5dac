import type { Clock, Fetch, Random } from '@behalf/kernel';
import type { ReadNetworkError } from '../../upstream/upstreamError.ts';
import type { OAuthClient } from './oauthClient.ts';
import { proveClient, type ProvenClient } from './oauthClientProof.ts';
import type { TokenAnswer } from './tokenAnswer.ts';
import { readTokenAnswer } from './tokenAnswerReading.ts';
import { postForm, type FormAnswer } from './tokenEndpointPost.ts';

const TIMEOUT_MS = 10_000;

export interface TokenRequest {
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
  /** Asked when nothing is left but sending; false: nothing is sent. */
  readonly maySend?: () => boolean;
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
  maySend = () => true,
}: TokenRequest): Promise<TokenAnswer> {
  let proven: ProvenClient;
  try {
    proven = await proveClient(client, { issuer, clock, random });
  } catch {
    return { kind: 'misconfigured', error: 'client_key_unusable' };
  }
  if (!maySend()) return { kind: 'unavailable' };
  const sentAt = clock.now();
  let answer: FormAnswer;
  try {
    answer = await postForm({
      ...{ url: endpoint, fetch, clock, timeoutMs },
      // Nothing that a definition adds takes the place of who we are.
      fields: { ...form, ...proven.fields },
      headers: { ...lowerCase(headers), ...proven.headers },
    });
  } catch (error) {
    return ofFailure(error, readError);
  }
  return readTokenAnswer(answer, sentAt, clock);
}

/** Only who knows that nothing was sent may say so. */
function ofFailure(error: unknown, readError: ReadNetworkError): TokenAnswer {
  const known = readError(error);
  if (known?.requestSent !== false) return { kind: 'in_doubt' };
  return known.code === 'MCP_DOMAIN_NOT_ALLOWED'
    ? { kind: 'misconfigured', error: 'endpoint_not_allowed' }
    : { kind: 'unavailable' };
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
