import type { Clock } from '@behalf/kernel';
import type { Upstream } from '../upstream/upstream.ts';
import type { CloseTracker } from './closeTracker.ts';
import { createConnection, type Connection, type ConnectionParts } from './connection.ts';

export type ConnectionHooks = Pick<ConnectionParts, 'onRetired' | 'onClosed' | 'isSingleUse'>;

/** Every connection that is not closed, also those that are only waited out: a shutdown must find them all. */
export interface OpenConnections {
  add(upstream: Upstream, hooks: ConnectionHooks): Connection;
  closeAll(): void;
}

export function createOpenConnections(parts: { clock: Clock; closeTracker: CloseTracker }): OpenConnections {
  const openSet = new Set<Connection>();
  let order = 0;
  const nextOrder = () => (order += 1);

  return {
    add(upstream, { onClosed, ...hooks }) {
      const connection = createConnection(upstream, {
        ...parts,
        ...hooks,
        nextOrder,
        onClosed(closed) {
          openSet.delete(closed);
          onClosed?.(closed);
        },
      });
      // One that had ended before it came here is closed by now.
      if (!connection.isRetired) openSet.add(connection);
      return connection;
    },
    closeAll() {
      for (const connection of openSet) void connection.close();
    },
  };
}
