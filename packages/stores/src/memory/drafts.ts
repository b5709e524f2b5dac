import type { DraftRecord, DraftStore } from '@behalf/gateway/ports';
import { copiesOf, copyOf, inOrderOf } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryDrafts({ drafts }: Tables): DraftStore {
  const find = (tenant: string, id: string) => {
    const draft = drafts.get(id);
    return draft?.tenant === tenant ? draft : undefined;
  };
  const all = (matches: (draft: DraftRecord) => boolean) =>
    [...drafts.values()].filter(matches).sort(inOrderOf((draft) => draft.id));
  const listOf = (tenant: string, userId: string) =>
    all((draft) => draft.tenant === tenant && draft.userId === userId);

  return {
    async insert(draft, most) {
      if (drafts.has(draft.id)) throw new Error('A draft of this id exists');
      const { tenant, userId, createdAt } = draft;
      const open = listOf(tenant, userId).filter(({ expiresAt }) => expiresAt > createdAt);
      if (open.length >= most) return 'full';
      drafts.set(draft.id, { ...draft });
      return 'inserted';
    },
    find: async (tenant, id) => copyOf(find(tenant, id)),
    findById: async (id) => copyOf(drafts.get(id)),
    listByUser: async (tenant, userId) => copiesOf(listOf(tenant, userId)),
    async consume(tenant, id, userId, now) {
      const draft = find(tenant, id);
      if (draft?.userId !== userId || draft.takenAt !== null || draft.expiresAt <= now) return false;
      drafts.set(id, { ...draft, takenAt: now, expiresAt: now });
      return true;
    },
    listExpired: async (by, limit) => copiesOf(all(({ expiresAt }) => expiresAt <= by).slice(0, limit)),
    remove: async (tenant, id) => find(tenant, id) !== undefined && drafts.delete(id),
  };
}
