import type { ServerSnapshot } from '../registry/server.ts';
import { serverKey } from './serverKey.ts';

/** Which definitions hold now. */
export interface CurrentServers {
  replace(servers: readonly ServerSnapshot[]): void;
  /** This very revision was announced. */
  holds(server: ServerSnapshot): boolean;
  /**
   * To be asked later, whether what was begun now may be kept. Not if the definition was taken back meanwhile, or
   * another holds in its place already; a server that nobody ever announced may.
   */
  follow(server: ServerSnapshot): () => boolean;
}

export function createCurrentServers(): CurrentServers {
  let revisions = new Map<string, Set<string>>();
  // The scope is in it, so that a server that stops being shared loses its shared connection whatever its revision.
  const mark = ({ scope, revision }: ServerSnapshot) => JSON.stringify([scope, revision]);
  const holds = (server: ServerSnapshot) => revisions.get(serverKey(server))?.has(mark(server)) === true;

  return {
    replace(servers) {
      revisions = new Map();
      for (const server of servers) {
        const key = serverKey(server);
        const known = revisions.get(key);
        if (known) known.add(mark(server));
        else revisions.set(key, new Set([mark(server)]));
      }
    },
    holds,
    follow(server) {
      const announced = holds(server);
      return () => holds(server) || (!announced && !revisions.has(serverKey(server)));
    },
  };
}
