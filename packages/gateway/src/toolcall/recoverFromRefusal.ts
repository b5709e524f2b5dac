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

/** The caller's own token for this server, where it is sent one. */
export function bearerOf(ready: Ready): Bearer | undefined {
  if (!('holder' in ready) || ready.holder.target.type === 'stdio') return undefined;
  return ready.holder.target.bearer;
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
  again: () => Promise<T>,
): Promise<T> {
  const bearer = bearerOf(ready);
  if (!bearer || !(await unlessAborted(bearer.renew(refused.detail.challenge), signal))) throw refused;
  try {
    return await again();
  } catch (error) {
    if (isRefusedToken(error, ready)) await unlessAborted(bearer.renew(error.detail.challenge), signal);
    throw error;
  }
}
