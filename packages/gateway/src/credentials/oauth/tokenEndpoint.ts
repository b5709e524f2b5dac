import type { Clock, Fetch, Random } from '@behalf/kernel';
import type { ReadNetworkError } from '../../upstream/upstreamError.ts';
import type { Prover } from '../dpop/dpop.ts';
import type { OAuthClient } from './oauthClient.ts';
import { proveClient, type ProvenClient } from './oauthClientProof.ts';
import type { TokenAnswer } from './tokenAnswer.ts';
import { readTokenAnswer } from './tokenAnswerReading.ts';
import { postForm, type FormAnswer, type FormPost } from './tokenEndpointPost.ts';

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
  /** The key that the tokens are, or are to be, bound to (RFC 9449, section 5). */
  readonly prover?: Prover | undefined;
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
  prover,
  maySend = () => true,
}: TokenRequest): Promise<TokenAnswer> {
  const begunAt = clock.now();

  async function send(): Promise<{ answer: FormAnswer; sentAt: number; proof: string } | TokenAnswer> {
    let proven: ProvenClient;
    try {
      // Anew for each request: an assertion is good once.
      proven = await proveClient(client, { issuer, clock, random });
    } catch {
      return { kind: 'misconfigured', error: 'client_key_unusable' };
    }
    if (!maySend()) return { kind: 'unavailable' };
    const sentAt = clock.now();
    const proof = prover?.proof('POST', endpoint) ?? '';
    const post: FormPost = {
      ...{ url: endpoint, fetch, clock, timeoutMs: timeoutMs - (sentAt - begunAt) },
      // Nothing that a definition adds takes the place of who we are.
      fields: { ...form, ...proven.fields },
      headers: {
        ...lowerCase(headers),
        ...proven.headers,
        ...(prover && { dpop: proof }),
      },
    };
    try {
      return { answer: await postForm(post), sentAt, proof };
    } catch (error) {
      return ofFailure(error, readError);
    }
  }

  const first = await send();
  if ('kind' in first) return first;
  const isAnother = prover?.heard(endpoint, first.answer.header('dpop-nonce'), first.proof) === true;
  const read = readTokenAnswer(first.answer, first.sentAt, clock);
  // Nothing was done there but saying what to repeat (RFC 9449, section 8). Once: who asks again asks for something else.
  if (!isAnother || read.kind !== 'misconfigured' || read.error !== 'use_dpop_nonce') return read;
  // What is left must be enough for an answer: who hangs up early does not know what became of it.
  if (clock.now() - begunAt > timeoutMs / 2) return { kind: 'unavailable' };
  const second = await send();
  if ('kind' in second) return second;
  prover.heard(endpoint, second.answer.header('dpop-nonce'), second.proof);
  return readTokenAnswer(second.answer, second.sentAt, clock);
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
