import { type Cancellation, rejectOnAbort } from '@behalf/kernel';
import { SignInRequired } from '../credentials/signInRequired.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { type PreparedTarget, getBearer } from './credential.ts';

/** The parts of a tool that decide whether the gateway may repeat its call. */
interface IdempotencyHints {
  readonly name: string;
  readonly annotations?: { readonly readOnlyHint?: unknown; readonly idempotentHint?: unknown } | undefined;
}

/**
 * Whether a failed request may be sent a second time. A request that the gateway did not send can be repeated. A request with
 * an unknown outcome is repeated only if the operator marked the tool as idempotent, or trusts the server's annotations.
 * Connections that keep a session renew a lost session themselves.
 */
export function canRetry(error: unknown, server: ServerSnapshot, tool?: IdempotencyHints): boolean {
  if (!(error instanceof UpstreamError)) return false;
  switch (error.outcome) {
    case 'unreachable':
      return error.reason === 'ended';
    case 'unknown':
      return error.reason !== 'too_large' && tool !== undefined && isIdempotentTool(server, tool);
    default:
      return false;
  }
}

function isIdempotentTool({ settings }: ServerSnapshot, { name, annotations }: IdempotencyHints): boolean {
  if (settings.idempotentTools.includes(name)) return true;
  const hasIdempotencyHint = annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
  return settings.trustAnnotations && hasIdempotencyHint;
}

type Attempt<T> = (prepared: PreparedTarget) => Promise<T>;

interface RetrySteps<T> {
  readonly attempt: Attempt<T>;
  /** Prepares the current credential of the user, for another connection. */
  readonly prepareFresh: () => Promise<PreparedTarget>;
  /** How to repeat the request after any other error; undefined if it must not be repeated. */
  readonly getRetry: (error: unknown) => Attempt<T> | undefined | Promise<Attempt<T> | undefined>;
}

/**
 * Handles the failure of a first attempt: makes at most one further attempt, or throws the error for the caller. After a
 * refused token, the further attempt uses a new token of the same credential, never an older token, another credential or the
 * caller's own token.
 */
export async function retryOnce<T>(
  error: unknown,
  prepared: PreparedTarget,
  signal: Cancellation,
  { attempt, prepareFresh, getRetry }: RetrySteps<T>,
): Promise<T> {
  if (signal.aborted) throw error;
  throwStepUpError(error, prepared);
  if (isTokenRefused(error, prepared)) {
    const isRenewed = await renewToken(error, prepared, signal);
    if (!isRenewed) throw error;
    const freshTarget = isCredentialReplaced(prepared) ? await prepareFresh() : prepared;
    try {
      return await runLastAttempt(freshTarget, attempt);
    } catch (lastError) {
      // The server refused the second token too: the credential must learn of it.
      if (isTokenRefused(lastError, freshTarget)) await renewToken(lastError, freshTarget, signal);
      throw lastError;
    }
  }
  // The user signed in again before the request was sent.
  if (error instanceof SignInRequired && isCredentialReplaced(prepared))
    return runLastAttempt(await prepareFresh(), attempt);
  const retry = await getRetry(error);
  if (!retry) throw error;
  return runLastAttempt(prepared, retry);
}

/** Whether the server refused the access token (401). Then it did not run the request. */
function isTokenRefused(error: unknown, prepared: PreparedTarget): error is UpstreamError {
  return (
    error instanceof UpstreamError && error.reason === 'unauthorized' && getBearer(prepared) !== undefined
  );
}

async function renewToken(
  { detail }: UpstreamError,
  prepared: PreparedTarget,
  signal: Cancellation,
): Promise<boolean> {
  const bearer = getBearer(prepared);
  return bearer !== undefined && rejectOnAbort(bearer.renew(detail.challenge), signal);
}

/** Whether the user signed in again after the credential was prepared. */
function isCredentialReplaced(prepared: PreparedTarget): boolean {
  return getBearer(prepared)?.isSuperseded?.() === true;
}

/** Throws the step-up error if the server requires a wider scope (RFC 6750, section 3.1) that the user can grant. */
function throwStepUpError(error: unknown, prepared: PreparedTarget): void {
  if (!(error instanceof UpstreamError) || error.reason !== 'insufficient_scope') return;
  const stepUpError = getBearer(prepared)?.toScopeError?.(error.detail.challenge);
  if (stepUpError) throw stepUpError;
}

async function runLastAttempt<T>(prepared: PreparedTarget, attempt: Attempt<T>): Promise<T> {
  try {
    return await attempt(prepared);
  } catch (error) {
    throwStepUpError(error, prepared);
    throw error;
  }
}
