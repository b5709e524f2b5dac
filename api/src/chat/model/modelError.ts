import { errorKinds } from '@behalf/contracts';
import { EgressError, type EgressReason } from '@behalf/egress';
import { GatewayError } from '@behalf/gateway';
import type { APIError } from 'openai';

type ModelCode = 'MODEL_REFUSED' | 'MODEL_RATE_LIMITED' | 'MODEL_UNAVAILABLE';

/** What the door out says, where it is the operator who can put it right. */
const refusals: Partial<Record<EgressReason, string>> = {
  redirect_refused: 'It answered with a redirect, and none is followed.',
  certificate_untrusted: 'Its certificate is not trusted.',
  domain_not_allowed: 'It is not where the configuration says.',
  private_address: 'It is at an address that cannot be opened.',
  bad_request: 'A header of it cannot be sent.',
};

const delays: Partial<Record<EgressReason, string>> = {
  headers_timeout: 'It did not begin to answer in time.',
  connect_timeout: 'It did not accept a connection in time.',
  idle_timeout: 'It stopped in the middle of its answer.',
  total_timeout: 'It did not finish its answer in time.',
};

const LONGEST_RETRY_S = 3_600;

/** The words of the model's API stay out of it: they may repeat the request, or the key. */
export function modelError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const egress = egressErrorIn(error);
  if (egress) {
    const refused = refusals[egress.reason];
    if (refused !== undefined) return told('MODEL_REFUSED', refused, error);
    return told('MODEL_UNAVAILABLE', delays[egress.reason] ?? 'It cannot be reached.', error);
  }
  const { status } = error as Partial<APIError>;
  if (typeof status !== 'number') return told('MODEL_UNAVAILABLE', 'Its answer could not be read.', error);
  const said = `Its API answered with ${status}.`;
  if (status === 429) return told('MODEL_RATE_LIMITED', said, error, retryAfterMs(error as APIError));
  const isOurs = status >= 400 && status < 500 && status !== 408 && status !== 409;
  return told(isOurs ? 'MODEL_REFUSED' : 'MODEL_UNAVAILABLE', said, error);
}

function told(code: ModelCode, what: string, cause: unknown, retryAfterMs?: number): GatewayError {
  const { title, action } = errorKinds[code];
  const detail = `${title}. ${what} ${action}`;
  return new GatewayError(code, { detail, cause, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}

/** The library wraps what it could not send. */
function egressErrorIn(error: unknown): EgressError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof EgressError) return at;
  return undefined;
}

function retryAfterMs({ headers }: Pick<APIError, 'headers'>): number | undefined {
  const seconds = Number(headers?.get('retry-after') ?? NaN);
  return seconds > 0 && seconds <= LONGEST_RETRY_S ? Math.ceil(seconds * 1000) : undefined;
}
