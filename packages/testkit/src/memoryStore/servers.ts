import {
  type DraftRecord,
  type DraftStore,
  type OverrideStore,
  type ServerStore,
  type StoredServerRecord,
  overrideId,
} from '@behalf/gateway/ports';
import { type Tables, compareBy, copyAll, copyOrNull } from './tables.ts';

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

export function createMemoryOverrides({ overrides }: Tables): OverrideStore {
  return {
    list: async () => copyAll([...overrides.values()].sort(compareBy(({ id }) => id))),
    find: async (tenant, name) => copyOrNull(overrides.get(overrideId(tenant, name))),
    async put(override, expectedVersion) {
      const current = overrides.get(override.id);
      if ((current?.version ?? null) !== expectedVersion) return 'version_conflict';
      overrides.set(override.id, { ...override });
      return 'stored';
    },
    async remove(tenant, name, expectedVersion) {
      const id = overrideId(tenant, name);
      const current = overrides.get(id);
      if (!current) return 'missing';
      if (current.version !== expectedVersion) return 'version_conflict';
      overrides.delete(id);
      return 'removed';
    },
  };
}

export function createMemoryDrafts({ drafts }: Tables): DraftStore {
  const find = (tenant: string, id: string) => {
    const draft = drafts.get(id);
    return draft?.tenant === tenant ? draft : undefined;
  };
  const listMatching = (matches: (draft: DraftRecord) => boolean) =>
    [...drafts.values()].filter(matches).sort(compareBy((draft) => draft.id));
  const listByUser = (tenant: string, userId: string) =>
    listMatching((draft) => draft.tenant === tenant && draft.userId === userId);

  return {
    async insert(draft, maxPerUser) {
      if (drafts.has(draft.id)) throw new Error('A draft with this id already exists');
      const { tenant, userId, createdAt } = draft;
      const active = listByUser(tenant, userId).filter(({ expiresAt }) => expiresAt > createdAt);
      if (active.length >= maxPerUser) return 'full';
      drafts.set(draft.id, { ...draft });
      return 'inserted';
    },
    find: async (tenant, id) => copyOrNull(find(tenant, id)),
    findById: async (id) => copyOrNull(drafts.get(id)),
    listByUser: async (tenant, userId) => copyAll(listByUser(tenant, userId)),
    async consume(tenant, id, userId, now) {
      const draft = find(tenant, id);
      if (draft?.userId !== userId || draft.takenAt !== null || draft.expiresAt <= now) return false;
      drafts.set(id, { ...draft, takenAt: now, expiresAt: now });
      return true;
    },
    listExpired: async (expiredBy, limit) =>
      copyAll(listMatching(({ expiresAt }) => expiresAt <= expiredBy).slice(0, limit)),
    remove: async (tenant, id) => find(tenant, id) !== undefined && drafts.delete(id),
  };
}
