import type { DraftRecord, DraftStore } from '@behalf/gateway/ports';
import { copyAll, copyOrNull, compareBy } from './records.ts';
import type { Tables } from './tables.ts';

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
