import type { Cancellation } from '@behalf/kernel';
import type { AppServer, UserServer } from '../servers/definition.ts';
import type { UpstreamTarget } from '../upstream/target.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { BreakerGuard, ConnectionRequest, HalfOpenPermit } from './breakerGuard.ts';
import { type Connection, isStateless } from './connection.ts';

/** The right to use a connection. It is not closed before the last lease of it is released. */
export interface Lease {
  /**
   * Where a server keeps no session all users have the same one. Then its `claims` are what the server said to whoever
   * came first: no answer to anybody else, so nobody may be refused or told anything because of them.
   */
  readonly upstream: Upstream;
  /**
   * How the use ended; without a failure it ended well, unless the signal of the lease has aborted: then nothing was
   * learned. Nor from a failure that is no UpstreamError: the server was not asked. Feeds the breakers and decides
   * whether the connection lives on. Idempotent.
   */
  release(failure?: unknown): void;
  /** Runs once, when nobody gets this connection any more: whoever holds it for long lets go of it then. */
  readonly onRetire: (listener: () => void) => () => void;
}

export interface LeaseOptions {
  /** Ends this caller's waiting and nothing else: the opening goes on within the server's own `initTimeout`. */
  readonly signal: Cancellation;
  /** A connection opened for this caller, in place of the one that is there. */
  readonly forceNew?: boolean | undefined;
  /** The user asked for this very attempt: it passes an open breaker. */
  readonly bypassesBreaker?: boolean | undefined;
}

/** Connections that everybody shares. There is no parameter for a user, so nothing of a user can reach one. */
export interface SharedPool {
  lease(server: AppServer, options: LeaseOptions): Promise<Lease>;
}

/** Connections that belong to one user each. */
export interface UserPool {
  /** Throws `breaker_open` where a lease would, and spares what a lease would need. */
  checkBreaker(server: UserServer, holder: ConnectionHolder): void;
  lease(server: UserServer, holder: ConnectionHolder, options: LeaseOptions): Promise<Lease>;
}

/** Whose connection it is and what it presents. Where the credential came from is none of this folder's business. */
export interface ConnectionHolder {
  /** Tenant and user as one opaque key. */
  readonly principal: string;
  readonly target: UpstreamTarget;
  /** Two credentials with one binding may use one session. A hash. */
  readonly binding: string;
  /** The inbound request, for servers whose definition names fields of it. */
  readonly requestKey?: string | undefined;
}

interface LeaseParts {
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
