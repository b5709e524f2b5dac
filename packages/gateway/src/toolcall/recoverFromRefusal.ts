import { unlessAborted, type Cancellation } from '@behalf/kernel';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Bearer } from '../upstream/target.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { Ready } from './obtainCredential.ts';

/** What is known of a tool that matters when its outcome is not. */
export interface Replayable {
  readonly name: string;
  readonly annotations?: { readonly readOnlyHint?: unknown; readonly idempotentHint?: unknown } | undefined;
}

/**
 * Whether a failed request may be sent once more. What cannot have run: the connection was gone before anything was
 * sent. (A lost session is begun anew and asked again where the session is kept.) When it may have run, only if the
 * operator vouches for the tool: a server's own word that it is harmless counts for nothing.
 */
export function mayRepeat(error: unknown, server: ServerSnapshot, tool?: Replayable): boolean {
  if (!(error instanceof UpstreamError)) return false;
  switch (error.outcome) {
    case 'unreachable':
      return error.reason === 'ended';
    case 'unknown':
      return error.reason !== 'too_large' && tool !== undefined && vouchedFor(server, tool);
    default:
      return false;
  }
}

function vouchedFor({ settings }: ServerSnapshot, { name, annotations }: Replayable): boolean {
  if (settings.idempotentTools.includes(name)) return true;
  const harmless = annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
  return settings.trustAnnotations && harmless;
}

/** The token for this server, the caller's own or ours, where it is sent one. */
export function bearerOf(ready: Ready): Bearer | undefined {
  if (!('holder' in ready)) return ready.bearer;
  return ready.holder.target.type === 'stdio' ? undefined : ready.holder.target.bearer;
}

/** The server wants a wider scope than the token has: what its user has to do, where that would help. Nothing was run. */
export function widerScope(error: unknown, ready: Ready): Error | undefined {
  if (!(error instanceof UpstreamError) || error.reason !== 'insufficient_scope') return undefined;
  return bearerOf(ready)?.toScopeError?.(error.detail.challenge);
}

/** Whether the server refused a token that another could take the place of. It ran nothing then. */
export function isRefusedToken(error: unknown, ready: Ready): error is UpstreamError {
  return error instanceof UpstreamError && error.reason === 'unauthorized' && bearerOf(ready) !== undefined;
}

/**
 * Another token and one more try, or the refusal itself. Nothing else takes its place: no older token, no other
 * credential, not the one the caller came with.
 */
export async function afterRefusal<T>(
  refused: UpstreamError,
  ready: Ready,
  signal: Cancellation,
  { again, anew }: Tries<T>,
): Promise<T> {
  const bearer = bearerOf(ready);
  if (!bearer || !(await unlessAborted(bearer.renew(refused.detail.challenge), signal))) throw refused;
  const next = isReplaced(ready) ? await anew() : ready;
  try {
    return await lastTry(next, again);
  } catch (error) {
    const last = bearerOf(next);
    if (last && isRefusedToken(error, next)) await unlessAborted(last.renew(error.detail.challenge), signal);
    throw error;
  }
}

export interface Tries<T> {
  readonly again: (ready: Ready) => Promise<T>;
  /** What its user presents by now, for another connection. */
  readonly anew: () => Promise<Ready>;
}

/** Whether its user has signed in anew since it was prepared: nothing was sent with what is there now. */
export function isReplaced(ready: Ready): boolean {
  return bearerOf(ready)?.isSuperseded?.() === true;
}

/** The last one: what its user has to do about a scope is told here as after the first. */
export async function lastTry<T>(ready: Ready, work: (ready: Ready) => Promise<T>): Promise<T> {
  try {
    return await work(ready);
  } catch (error) {
    throw widerScope(error, ready) ?? error;
  }
}
