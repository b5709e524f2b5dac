import type { ServerSnapshot } from '../../registry/server.ts';

/** Servers that are going: nobody finds them any more, but what was given for them is still to be revoked. */
export interface RetiringServers {
  get(tenant: string, serverId: string): ServerSnapshot | undefined;
  /** Until the answer is called. */
  add(tenant: string, server: ServerSnapshot): () => void;
}

export function createRetiringServers(): RetiringServers {
  const servers = new Map<string, ServerSnapshot>();
  const keyOf = (tenant: string, id: string) => JSON.stringify([tenant, id]);
  return {
    get: (tenant, serverId) => servers.get(keyOf(tenant, serverId)),
    add(tenant, server) {
      const key = keyOf(tenant, server.id);
      servers.set(key, server);
      return () => void (servers.get(key) === server && servers.delete(key));
    },
  };
}
