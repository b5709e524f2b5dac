import type { ServerSnapshot } from '../../registry/server.ts';

/** Servers that are going: nobody finds them any more, but what was given for them is still to be revoked. */
export interface RetiringServers {
  get(tenant: string, serverId: string): ServerSnapshot | undefined;
  /** Until the answer is called. */
  enter(tenant: string, server: ServerSnapshot): () => void;
}

export function createRetiringServers(): RetiringServers {
  const going = new Map<string, ServerSnapshot>();
  const keyOf = (tenant: string, id: string) => JSON.stringify([tenant, id]);
  return {
    get: (tenant, serverId) => going.get(keyOf(tenant, serverId)),
    enter(tenant, server) {
      const key = keyOf(tenant, server.id);
      going.set(key, server);
      return () => void (going.get(key) === server && going.delete(key));
    },
  };
}
