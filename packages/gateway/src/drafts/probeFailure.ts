import type { ErrorCode } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { UpstreamError, type UpstreamReason } from '../upstream/upstreamError.ts';

const refusalReasons = [
  'unauthorized',
  'forbidden',
  'insufficient_scope',
] as const satisfies UpstreamReason[];
export type CredentialRefusalReason = (typeof refusalReasons)[number];

/** The server wants another credential than it was shown, or one at all. */
export interface CredentialRefusal {
  readonly reason: CredentialRefusalReason;
  readonly error: UpstreamError;
}

/** Undefined: it failed in another way. */
export function toCredentialRefusal(error: unknown): CredentialRefusal | undefined {
  if (!(error instanceof UpstreamError)) return undefined;
  const reason = refusalReasons.find((candidate) => candidate === error.reason);
  return reason && { reason, error };
}

/** In our own words, by the kind of failure alone: nothing that the server, or whoever else is at that address, said is in them. */
const messages: Partial<Record<ErrorCode, string>> = {
  MCP_PROTOCOL_ERROR:
    'The endpoint at this address does not respond as an MCP server. Check the address and the transport.',
  MCP_RESPONSE_TOO_LARGE: 'The response is too large.',
  MCP_TIMEOUT: 'The server did not respond in time.',
  MCP_RATE_LIMITED: 'The server limits the request rate. Try again later.',
};

const reportedCodes: readonly ErrorCode[] = [
  'MCP_DOMAIN_NOT_ALLOWED',
  'MCP_PROTOCOL_ERROR',
  'MCP_RESPONSE_TOO_LARGE',
];

/** What a caller is told of a server that could not be asked: always that it is the server, never what it said. */
export function toProbeError(error: unknown): unknown {
  if (!(error instanceof UpstreamError)) return error;
  const code = reportedCodes.find((candidate) => candidate === error.code) ?? 'MCP_UNREACHABLE';
  const detail = messages[error.code];
  return new GatewayError(code, { ...(detail !== undefined && { detail }), cause: error });
}
