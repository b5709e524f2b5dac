import { type Cancellation, rejectOnAbort } from '@behalf/kernel';
import type { ServerSnapshot } from '../servers/definition.ts';
import type { Bearer } from '../upstream/target.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { PreparedTarget } from './credential.ts';

/** What is known of a tool that matters when its outcome is not. */
interface IdempotencyHints {
  readonly name: string;
  readonly annotations?: { readonly readOnlyHint?: unknown; readonly idempotentHint?: unknown } | undefined;
}

/**
 * Whether a failed request may be sent once more. What cannot have run: the connection was gone before anything was
 * sent. (A lost session is begun anew and asked again where the session is kept.) When it may have run, only if the
 * operator vouches for the tool: a server's own word that it is harmless counts for nothing.
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

/** The token for this server, the caller's own or ours, where it is sent one. */
export function getBearer(prepared: PreparedTarget): Bearer | undefined {
  if (!('holder' in prepared)) return prepared.bearer;
  return prepared.holder.target.type === 'stdio' ? undefined : prepared.holder.target.bearer;
}

/** The server wants a wider scope than the token has: what its user has to do, where that would help. Nothing was run. */
export function toStepUpError(error: unknown, prepared: PreparedTarget): Error | undefined {
  if (!(error instanceof UpstreamError) || error.reason !== 'insufficient_scope') return undefined;
  return getBearer(prepared)?.toScopeError?.(error.detail.challenge);
}

/** Whether the server refused a token that another could take the place of. It ran nothing then. */
export function isTokenRefused(error: unknown, prepared: PreparedTarget): error is UpstreamError {
  return (
    error instanceof UpstreamError && error.reason === 'unauthorized' && getBearer(prepared) !== undefined
  );
}

/**
 * Another token and one more try, or the refusal itself. Nothing else takes its place: no older token, no other
 * credential, not the one the caller came with.
 */
export async function retryAfterRefusal<T>(
  refusal: UpstreamError,
  prepared: PreparedTarget,
  signal: Cancellation,
  { resend, prepareFresh }: RetrySteps<T>,
): Promise<T> {
  const bearer = getBearer(prepared);
  if (!bearer || !(await rejectOnAbort(bearer.renew(refusal.detail.challenge), signal))) throw refusal;
  const freshTarget = isCredentialReplaced(prepared) ? await prepareFresh() : prepared;
  try {
    return await runLastAttempt(freshTarget, resend);
  } catch (error) {
    const lastBearer = getBearer(freshTarget);
    if (lastBearer && isTokenRefused(error, freshTarget))
      await rejectOnAbort(lastBearer.renew(error.detail.challenge), signal);
    throw error;
  }
}

interface RetrySteps<T> {
  readonly resend: (prepared: PreparedTarget) => Promise<T>;
  /** What its user presents by now, for another connection. */
  readonly prepareFresh: () => Promise<PreparedTarget>;
}

/** Whether its user has signed in anew since it was prepared: nothing was sent with what is there now. */
export function isCredentialReplaced(prepared: PreparedTarget): boolean {
  return getBearer(prepared)?.isSuperseded?.() === true;
}

/** The last one: what its user has to do about a scope is told here as after the first. */
export async function runLastAttempt<T>(
  prepared: PreparedTarget,
  attempt: (prepared: PreparedTarget) => Promise<T>,
): Promise<T> {
  try {
    return await attempt(prepared);
  } catch (error) {
    throw toStepUpError(error, prepared) ?? error;
  }
}
