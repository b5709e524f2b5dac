import type { ServerSnapshot } from '../registry/server.ts';

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
