import { errorKinds } from '@behalf/contracts';
import { EgressError, type EgressReason } from '@behalf/egress';
import { GatewayError } from '@behalf/gateway';
import type { APIError } from 'openai';

type ModelCode = 'MODEL_REFUSED' | 'MODEL_RATE_LIMITED' | 'MODEL_UNAVAILABLE';

/** What the door out says, where it is the operator who can put it right. */
const refusalDetails: Partial<Record<EgressReason, string>> = {
  redirect_refused: 'The model API responded with a redirect, which the gateway does not follow.',
  certificate_untrusted: 'The certificate of the model API is not trusted.',
  domain_not_allowed: 'The configuration does not allow the domain of the model API.',
  private_address: 'The configuration does not allow the address of the model API.',
  bad_request: 'A header configured in endpoints.custom cannot be sent.',
};

const timeoutDetails: Partial<Record<EgressReason, string>> = {
  headers_timeout: 'The model API did not start responding in time.',
  connect_timeout: 'The model API did not accept a connection in time.',
  idle_timeout: 'The model API stopped sending before the response was complete.',
  total_timeout: 'The model API did not complete the response in time.',
};

const MAX_RETRY_AFTER_S = 3_600;

/** The words of the model's API stay out of it: they may repeat the request, or the key. */
export function toModelError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const egress = findEgressError(error);
  if (egress) {
    const refusalDetail = refusalDetails[egress.reason];
    if (refusalDetail !== undefined) return createModelError('MODEL_REFUSED', refusalDetail, error);
    return createModelError(
      'MODEL_UNAVAILABLE',
      timeoutDetails[egress.reason] ?? 'The model API cannot be reached.',
      error,
    );
  }
  const { status } = error as Partial<APIError>;
  if (typeof status !== 'number')
    return createModelError('MODEL_UNAVAILABLE', 'The response of the model API could not be read.', error);
  const statusDetail = `The model API returned status ${status}.`;
  if (status === 429)
    return createModelError('MODEL_RATE_LIMITED', statusDetail, error, getRetryAfterMs(error as APIError));
  const isClientError = status >= 400 && status < 500 && status !== 408 && status !== 409;
  return createModelError(isClientError ? 'MODEL_REFUSED' : 'MODEL_UNAVAILABLE', statusDetail, error);
}

function createModelError(
  code: ModelCode,
  reason: string,
  cause: unknown,
  retryAfterMs?: number,
): GatewayError {
  const { title, action } = errorKinds[code];
  const detail = `${title}. ${reason} ${action}`;
  return new GatewayError(code, { detail, cause, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}

/** The library wraps what it could not send. */
function findEgressError(error: unknown): EgressError | undefined {
  for (let current = error; current instanceof Error; current = current.cause)
    if (current instanceof EgressError) return current;
  return undefined;
}

function getRetryAfterMs({ headers }: Pick<APIError, 'headers'>): number | undefined {
  const seconds = Number(headers?.get('retry-after') ?? NaN);
  return seconds > 0 && seconds <= MAX_RETRY_AFTER_S ? Math.ceil(seconds * 1000) : undefined;
}
