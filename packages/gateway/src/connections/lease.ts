import type { Cancellation } from '@behalf/kernel';
import type { AppServer, UserServer } from '../registry/server.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { ConnectionHolder } from './connectionHolder.ts';

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
