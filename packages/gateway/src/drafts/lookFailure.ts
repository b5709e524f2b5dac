import type { ErrorCode } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { UpstreamError, type UpstreamReason } from '../upstream/upstreamError.ts';

const refusals = ['unauthorized', 'forbidden', 'insufficient_scope'] as const satisfies UpstreamReason[];
export type Refusal = (typeof refusals)[number];

/** The server wants another credential than it was shown, or one at all. */
export interface Refused {
  readonly reason: Refusal;
  readonly error: UpstreamError;
}

/** Undefined: it failed in another way. */
export function refusalOf(error: unknown): Refused | undefined {
  if (!(error instanceof UpstreamError)) return undefined;
  const reason = refusals.find((known) => known === error.reason);
  return reason && { reason, error };
}

/** In our own words, by the kind of failure alone: nothing that the server, or whoever else is at that address, said is in them. */
const sentences: Partial<Record<ErrorCode, string>> = {
  MCP_PROTOCOL_ERROR:
    'What is at this address does not answer as an MCP server. Check the address and the transport.',
  MCP_RESPONSE_TOO_LARGE: 'The answer is too large.',
  MCP_TIMEOUT: 'The server did not answer in time.',
  MCP_RATE_LIMITED: 'The server asks for time. Try again later.',
};

const told: readonly ErrorCode[] = ['MCP_DOMAIN_NOT_ALLOWED', 'MCP_PROTOCOL_ERROR', 'MCP_RESPONSE_TOO_LARGE'];

/** What a caller is told of a server that could not be asked: always that it is the server, never what it said. */
export function lookFailure(error: unknown): unknown {
  if (!(error instanceof UpstreamError)) return error;
  const code = told.find((known) => known === error.code) ?? 'MCP_UNREACHABLE';
  const detail = sentences[error.code];
  return new GatewayError(code, { ...(detail !== undefined && { detail }), cause: error });
}
