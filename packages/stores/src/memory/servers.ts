import type { ServerStore, StoredServerRecord } from '@behalf/gateway/ports';
import { copyAll, copyOrNull, compareBy } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryServers({ servers }: Tables): ServerStore {
  const isTaken = ({ id, tenant, name, normalizedName }: StoredServerRecord) =>
    [...servers.values()].some(
      (other) =>
        other.id !== id &&
        other.tenant === tenant &&
        (other.name === name || other.normalizedName === normalizedName),
    );
  const find = (tenant: string, id: string) => {
    const server = servers.get(id);
    return server?.tenant === tenant ? server : undefined;
  };
  const inOrder = () => [...servers.values()].sort(compareBy(({ id }) => id));

  return {
    async insert(server) {
      if (servers.has(server.id) || isTaken(server)) return 'taken';
      servers.set(server.id, { ...server });
      return 'inserted';
    },
    async replace(server, expectedVersion) {
      const current = find(server.tenant, server.id);
      if (!current) return 'missing';
      if (current.version !== expectedVersion) return 'version_conflict';
      if (isTaken(server)) return 'taken';
      servers.set(server.id, { ...server });
      return 'replaced';
    },
    async remove(tenant, id) {
      return find(tenant, id) !== undefined && servers.delete(id);
    },
    find: async (tenant, id) => copyOrNull(find(tenant, id)),
    findByName: async (tenant, name) =>
      copyOrNull([...servers.values()].find((server) => server.tenant === tenant && server.name === name)),
    list: async () => copyAll(inOrder()),
    listNames: async (tenant) =>
      inOrder()
        .filter((server) => server.tenant === tenant)
        .map(({ id, name, normalizedName, author }) => ({ id, name, normalizedName, author })),
    listVersions: async () => inOrder().map(({ id, version }) => ({ id, version })),
  };
}
