import type { Cancellation } from '@behalf/kernel';
import type { AppServer, ServerSnapshot, UserServer } from '../definitions/definition.ts';
import type { UpstreamTarget } from '../upstream/target.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { BreakerGuard, HalfOpenPermit } from './breakers.ts';
import { type Connection, isStateless } from './connection.ts';

/** A borrowed connection. The connection stays open until its last lease is released. */
export interface Lease {
  /**
   * All users share the upstream of a stateless server. Its `claims` are then what the server reported to the user who
   * connected first. They must not decide what another user may do or see.
   */
  readonly upstream: Upstream;
  /**
   * Reports how the use ended and returns the connection. Idempotent. Only an `UpstreamError` counts as a failure of
   * the server. Any other failure means that no request was sent. Without a failure the use succeeded, unless the
   * signal of the lease aborted: the outcome is then unknown.
   */
  release(failure?: unknown): void;
  /** Calls the listener once when the pool stops lending this connection, so that long-lived users release it. */
  readonly onRetire: (listener: () => void) => () => void;
}

export interface LeaseOptions {
  /** Ends the wait of this caller only. Opening continues within the server's `initTimeout`. */
  readonly signal: Cancellation;
  /** Opens a new connection that replaces the current one. */
  readonly forceNew?: boolean | undefined;
  /** Passes an open breaker. Set for attempts that the user requested explicitly. */
  readonly bypassesBreaker?: boolean | undefined;
}

/** Connections that all users share. `lease` has no user parameter, so no user's credential can reach one. */
export interface SharedPool {
  lease(server: AppServer, options: LeaseOptions): Promise<Lease>;
}

/** Connections that belong to one user each. */
export interface UserPool {
  /** Throws `breaker_open` if a lease would. Called before a credential is obtained, which may be expensive. */
  checkBreaker(server: UserServer, holder: ConnectionHolder): void;
  lease(server: UserServer, holder: ConnectionHolder, options: LeaseOptions): Promise<Lease>;
}

/** The user of a connection and what the connection presents. This folder does not know where credentials come from. */
export interface ConnectionHolder {
  /** Tenant and user as one opaque key. */
  readonly principal: string;
  readonly target: UpstreamTarget;
  /** Hash of the credential's identity. Credentials with the same binding may share a session. */
  readonly binding: string;
  /** The inbound request. Set for servers whose definition names fields of the request. */
  readonly requestKey?: string | undefined;
}

/** The server and target of a lease. Without a holder the connection is shared by all users. */
export interface ConnectionRequest {
  readonly server: ServerSnapshot;
  readonly target: UpstreamTarget;
  readonly holder: ConnectionHolder | undefined;
}

/** Identifies a server across tenants. The key is a JSON tuple, so that ids with separators cannot collide. */
export function tenantServerKey({ tenant, id }: Pick<ServerSnapshot, 'tenant' | 'id'>): string {
  return JSON.stringify([tenant, id]);
}

/** Snapshots are immutable and every call needs the key. */
const revisionKeys = new WeakMap<ServerSnapshot, string>();

/** Identifies one revision of a definition. A changed definition starts without connections, failures and breakers. */
export function revisionKey(server: ServerSnapshot): string {
  let key = revisionKeys.get(server);
  if (key === undefined) {
    key = JSON.stringify([server.tenant, server.id, server.revision]);
    revisionKeys.set(server, key);
  }
  return key;
}

interface LeaseParts {
  readonly request: ConnectionRequest;
  readonly permit: HalfOpenPermit | undefined;
  readonly breakerGuard: BreakerGuard;
  readonly signal: Cancellation;
  readonly onFailure?: (() => void) | undefined;
}

/** Creates the lease of a connection on which the caller already counts as a borrower. */
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
      // For example a failed token exchange, which says nothing about the health of the server.
      const wasNotSent = error !== undefined && !failure;
      const { request, permit, breakerGuard, signal } = parts;
      // An aborted call without a failure has no outcome. It must not count as a success.
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

/** After a timeout or a broken stream the session may still exist. If it does not, the upstream reports its close. */
function hasSessionEnded({ reason }: UpstreamError): boolean {
  return reason === 'ended' || reason === 'session_lost';
}
