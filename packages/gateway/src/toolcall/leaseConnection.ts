import type { ConnectionManager, Lease, LeaseOptions } from '../connections/connectionManager.ts';
import type { Ready } from './obtainCredential.ts';

/** Shared or the caller's own: the definition decides, and the types keep the two apart. */
export function leaseConnection(
  connections: Pick<ConnectionManager, 'shared' | 'user'>,
  ready: Ready,
  options: LeaseOptions,
): Promise<Lease> {
  return 'holder' in ready
    ? connections.user.lease(ready.server, ready.holder, options)
    : connections.shared.lease(ready.server, options);
}
