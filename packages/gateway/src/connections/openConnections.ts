import type { Clock } from '@behalf/kernel';
import type { Upstream } from '../upstream/upstream.ts';
import type { Closings } from './closings.ts';
import { createConnection, type Connection, type ConnectionParts } from './connection.ts';

export type ConnectionHooks = Pick<ConnectionParts, 'onRetired' | 'onClosed' | 'once'>;

/** Every connection that is not closed, also those that are only waited out: a shutdown must find them all. */
export interface OpenConnections {
  add(upstream: Upstream, hooks: ConnectionHooks): Connection;
  closeAll(): void;
}

export function createOpenConnections(parts: { clock: Clock; closings: Closings }): OpenConnections {
  const open = new Set<Connection>();
  let order = 0;
  const nextOrder = () => (order += 1);

  return {
    add(upstream, { onClosed, ...hooks }) {
      const connection = createConnection(upstream, {
        ...parts,
        ...hooks,
        nextOrder,
        onClosed(closed) {
          open.delete(closed);
          onClosed?.(closed);
        },
      });
      // One that had ended before it came here is closed by now.
      if (!connection.retired) open.add(connection);
      return connection;
    },
    closeAll() {
      for (const connection of open) void connection.close();
    },
  };
}
