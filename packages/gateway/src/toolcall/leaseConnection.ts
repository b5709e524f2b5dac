import type { ConnectionManager, Lease, LeaseOptions } from '../connections/connectionManager.ts';
import type { PreparedTarget } from './obtainCredential.ts';

/** Shared or the caller's own: the definition decides, and the types keep the two apart. */
export function leaseConnection(
  connections: Pick<ConnectionManager, 'shared' | 'user'>,
  prepared: PreparedTarget,
  options: LeaseOptions,
): Promise<Lease> {
  return 'holder' in prepared
    ? connections.user.lease(prepared.server, prepared.holder, options)
    : connections.shared.lease(prepared.server, options);
}
