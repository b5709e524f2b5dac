import { createSingleFlight } from '@behalf/kernel';
import type { Upstream } from '../upstream/upstream.ts';

/** Opens one server. The signal aborts when nobody will use it any more: a server that never answers must not delay that. */
export type OpenUpstream = (signal: AbortSignal) => Promise<Upstream>;

/** A server that every user may share. */
export interface SharedServer {
  readonly name: string;
  /** Changes whenever the definition does: a connection never outlives the definition it was opened for. */
  readonly revision: string;
  readonly open: OpenUpstream;
}

/** One connection per app-level server, opened at first use. There is no parameter for a user. */
export interface SharedUpstreams {
  /** Runs `work` on the server's connection. Undefined when no shared server has this name. */
  use<T>(server: string, work: (upstream: Upstream) => Promise<T>): Promise<T> | undefined;
  names(): readonly string[];
  /** New definitions. A server that did not change keeps its connection; others lose theirs when its calls are over. */
  update(servers: readonly SharedServer[]): void;
  close(): Promise<void>;
}

interface Connection {
  readonly upstream: Upstream;
  readonly revision: string;
  borrowers: number;
  retired: boolean;
}

export function createSharedUpstreams(initial: readonly SharedServer[]): SharedUpstreams {
  let servers = byName(initial);
  const open = new Map<string, Connection>();
  const closing = new Set<Promise<void>>();
  const flights = createSingleFlight<Connection>();
  const shutdown = new AbortController();

  async function connect(server: SharedServer): Promise<Connection> {
    // Nothing is opened any more that nobody would close.
    shutdown.signal.throwIfAborted();
    const upstream = await server.open(shutdown.signal);
    const connection = { upstream, revision: server.revision, borrowers: 0, retired: false };
    if (shutdown.signal.aborted) {
      await upstream.close();
      shutdown.signal.throwIfAborted();
    }
    // The definition may have changed while this was opening: then it serves who waits for it, and nobody else.
    if (servers.get(server.name)?.revision !== server.revision) connection.retired = true;
    else open.set(server.name, connection);
    upstream.onClose(() => {
      if (open.get(server.name) === connection) open.delete(server.name);
    });
    return connection;
  }

  function closeConnection({ upstream }: Connection): void {
    const done: Promise<void> = upstream
      .close()
      .catch(() => undefined)
      .then(() => void closing.delete(done));
    closing.add(done);
  }

  async function borrow<T>(server: SharedServer, work: (upstream: Upstream) => Promise<T>): Promise<T> {
    const connection =
      open.get(server.name) ??
      (await flights.run([server.name, server.revision], () => connect(server), { detached: true }));
    connection.borrowers += 1;
    try {
      return await work(connection.upstream);
    } finally {
      connection.borrowers -= 1;
      if (connection.retired && connection.borrowers === 0) closeConnection(connection);
    }
  }

  return {
    use(name, work) {
      const server = servers.get(name);
      return server && borrow(server, work);
    },
    names: () => [...servers.keys()],
    update(next) {
      servers = byName(next);
      for (const [name, connection] of open) {
        if (servers.get(name)?.revision === connection.revision) continue;
        open.delete(name);
        connection.retired = true;
        if (connection.borrowers === 0) closeConnection(connection);
      }
    },
    async close() {
      shutdown.abort(new Error('The gateway is shutting down'));
      await flights.idle();
      for (const connection of open.values()) closeConnection(connection);
      open.clear();
      await Promise.all(closing);
    },
  };
}

function byName(servers: readonly SharedServer[]): Map<string, SharedServer> {
  return new Map(servers.map((server) => [server.name, server]));
}
