import type { Cancellation } from '@behalf/kernel';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { Connection } from './connection.ts';
import type { BreakerGuard, HalfOpenPermit, ConnectionRequest } from './breakerGuard.ts';
import type { Lease } from './lease.ts';
import { isStateless } from './stateless.ts';

export interface LeaseParts {
  readonly request: ConnectionRequest;
  readonly permit: HalfOpenPermit | undefined;
  readonly breakerGuard: BreakerGuard;
  readonly signal: Cancellation;
  readonly onFailure?: (() => void) | undefined;
}

/** The lease of a connection that already counts its borrower. */
export function createLease(connection: Connection, parts: LeaseParts): Lease {
  const { upstream } = connection;
  let isReleased = false;
  return {
    upstream,
    onRetire: connection.onRetire,
    release(error) {
      if (isReleased) return;
      isReleased = true;
      const failure = error instanceof UpstreamError ? error : undefined;
      // A token that could not be had is no word of the server, and no proof that it is well.
      const wasNotSent = error !== undefined && !failure;
      const { request, permit, breakerGuard, signal } = parts;
      // Who went away learned nothing: a call that was given up is no proof that the server is well.
      if (!wasNotSent && (failure || !signal.aborted)) breakerGuard.recordResult(request, 'use', failure);
      if (permit) breakerGuard.release(request, permit);
      if (failure) {
        parts.onFailure?.();
        if (hasSessionEnded(failure) && !isStateless(request.target, upstream.claims))
          void connection.retire();
      }
      connection.release();
    },
  };
}

/** After a timeout or a broken stream the session may well be there; when it is not, the upstream says that it closed. */
function hasSessionEnded({ reason }: UpstreamError): boolean {
  return reason === 'ended' || reason === 'session_lost';
}
