import type { ServerSnapshot } from '../registry/server.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

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
