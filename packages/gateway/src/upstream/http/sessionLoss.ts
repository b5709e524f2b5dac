import { UpstreamError } from '../upstreamError.ts';

export function isSessionLost(error: unknown): error is UpstreamError {
  return error instanceof UpstreamError && error.reason === 'session_lost';
}

/** 404 that is no answer to this very request says it: the session is not known there (MCP, "Session Management"). */
export function isUnambiguousLoss({ detail }: UpstreamError): boolean {
  return detail.status === 404 && detail.cause === undefined;
}

/** A refusal of the request itself, which a new session does not change. */
export function toRequestError({ detail }: UpstreamError): UpstreamError {
  return detail.cause instanceof UpstreamError ? detail.cause : new UpstreamError('bad_request', detail);
}
