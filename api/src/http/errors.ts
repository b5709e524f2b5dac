import { type ErrorCode, type Problem, errorKinds, httpStatus } from '@behalf/contracts';
import { GatewayError } from '@behalf/gateway';
import type { Random } from '@behalf/kernel';
import { StoreUnavailableError } from '@behalf/stores/open';
import type { Logger } from '../runtime/logger.ts';

export interface ProblemResponse {
  problem: Problem;
  headers: Record<string, string>;
}

/** LibreChat has translations for these values of `error` only. For other codes, `error` contains the title. */
const LIBRECHAT_ERROR_CODES = new Set<string>([
  'MCP_INSPECTION_FAILED',
  'MCP_DOMAIN_NOT_ALLOWED',
  'MCP_OAUTH_SECRET_REENTRY_REQUIRED',
]);

/** The `WWW-Authenticate` challenges (RFC 6750 section 3). */
const challenges = new Map<ErrorCode, string>([
  ['AUTH_REQUIRED', 'Bearer'],
  ['AUTH_TOKEN_INVALID', 'Bearer error="invalid_token"'],
]);

/**
 * Maps errors to problem responses (RFC 9457). An unexpected error becomes INTERNAL with an incident id; its details are only
 * logged.
 */
export function createProblemMap({
  random,
  logger,
}: {
  random: Random;
  logger: Logger;
}): (error: unknown) => ProblemResponse {
  return (error) => {
    const known = asGatewayError(error);
    if (known) return toProblemResponse(known);
    const incidentId = random.id();
    logger.error('Unexpected error', { incident: incidentId, error });
    return toProblemResponse(
      new GatewayError('INTERNAL', { detail: `Incident ${incidentId}. Give this id to the operator.` }),
      incidentId,
    );
  };
}

function asGatewayError(error: unknown): GatewayError | null {
  if (error instanceof GatewayError) return error;
  if (error instanceof StoreUnavailableError) return new GatewayError('STORE_UNAVAILABLE', { cause: error });
  // Errors of the Express body parser have `type` and `status`.
  if (error instanceof Error && 'type' in error && 'status' in error) {
    if (error.status === 413) return new GatewayError('REQUEST_TOO_LARGE');
    if (error.status === 400 || error.status === 415) {
      return new GatewayError('REQUEST_INVALID', {
        detail: 'The body cannot be parsed as the given Content-Type.',
      });
    }
  }
  // Express throws a URIError if a path cannot be percent-decoded.
  if (error instanceof URIError) return new GatewayError('NOT_FOUND');
  return null;
}

function toProblemResponse(error: GatewayError, incidentId?: string): ProblemResponse {
  const { code, detail } = error;
  const { title } = errorKinds[code];
  const problem: Problem = {
    type: `urn:behalf:error:${code}`,
    title,
    status: httpStatus(code),
    detail,
    code,
    message: detail,
    error: LIBRECHAT_ERROR_CODES.has(code) ? code : title,
    ...(incidentId !== undefined && { instance: `urn:behalf:incident:${incidentId}` }),
    ...(error.errors !== undefined && { errors: [...error.errors] }),
    ...(error.approval !== undefined && { approval: error.approval }),
    ...error.flow,
    ...(error.missing !== undefined && { missing: error.missing }),
    ...(error.changedFields !== undefined && { changedFields: [...error.changedFields] }),
  };
  const headers: Record<string, string> = {};
  if (error.retryAfterMs !== undefined) headers['Retry-After'] = String(Math.ceil(error.retryAfterMs / 1000));
  const challenge = error.challenge ? bearerChallenge(error.challenge) : challenges.get(code);
  if (challenge !== undefined) headers['WWW-Authenticate'] = challenge;
  return { problem, headers };
}

/** The challenge for an insufficient token, with the missing claims if the identity provider named them. */
function bearerChallenge({ claims }: NonNullable<GatewayError['challenge']>): string {
  if (claims === undefined) return 'Bearer error="invalid_token"';
  return `Bearer error="insufficient_claims", claims="${Buffer.from(claims).toString('base64')}"`;
}
