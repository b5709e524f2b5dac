import type { ServerSnapshot } from '../servers/definition.ts';

/** Names a server across tenants. A JSON tuple, so that no two names can meet. */
export function tenantServerKey({ tenant, id }: Pick<ServerSnapshot, 'tenant' | 'id'>): string {
  return JSON.stringify([tenant, id]);
}

/** A snapshot never changes, and every call asks for its key. */
const revisionKeys = new WeakMap<ServerSnapshot, string>();

/** Names a definition of it. Who changes the definition gets a fresh start: nothing known of the old one holds. */
export function revisionKey(server: ServerSnapshot): string {
  let key = revisionKeys.get(server);
  if (key === undefined) {
    key = JSON.stringify([server.tenant, server.id, server.revision]);
    revisionKeys.set(server, key);
  }
  return key;
}

/** Which definitions hold now. */
export interface ActiveRevisions {
  replace(servers: readonly ServerSnapshot[]): void;
  /** This very revision was announced. */
  isActive(server: ServerSnapshot): boolean;
  /**
   * To be asked later, whether what was begun now may be kept. Not if the definition was taken back meanwhile, or
   * another holds in its place already; a server that nobody ever announced may.
   */
  trackValidity(server: ServerSnapshot): () => boolean;
}

export function createActiveRevisions(): ActiveRevisions {
  let revisions = new Map<string, Set<string>>();
  // The scope is in it, so that a server that stops being shared loses its shared connection whatever its revision.
  const toScopedRevision = ({ scope, revision }: ServerSnapshot) => JSON.stringify([scope, revision]);
  const isActive = (server: ServerSnapshot) =>
    revisions.get(tenantServerKey(server))?.has(toScopedRevision(server)) === true;

  return {
    replace(servers) {
      revisions = new Map();
      for (const server of servers) {
        const key = tenantServerKey(server);
        const activeSet = revisions.get(key);
        if (activeSet) activeSet.add(toScopedRevision(server));
        else revisions.set(key, new Set([toScopedRevision(server)]));
      }
    },
    isActive,
    trackValidity(server) {
      const wasActive = isActive(server);
      return () => isActive(server) || (!wasActive && !revisions.has(tenantServerKey(server)));
    },
  };
}
