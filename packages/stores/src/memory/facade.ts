import type { AuthorizationServerRecord, AuthorizationServerStore } from '@behalf/gateway/ports';
import { copiesOf, copyOf, inOrderOf } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryFacade({ authorizationServer: records }: Tables): AuthorizationServerStore {
  const live = (key: string, now: number) => {
    const record = records.get(key);
    return record && record.expiresAt > now ? record : undefined;
  };
  const removeWhere = (isMeant: (record: AuthorizationServerRecord) => boolean) => {
    const gone = [...records.values()].filter(isMeant);
    for (const { key } of gone) records.delete(key);
    return gone.length;
  };

  return {
    async insert(record, now) {
      const first = live(record.key, now);
      if (!first) records.set(record.key, { ...record });
      return copyOf(first);
    },
    async put(record) {
      records.set(record.key, { ...record });
    },
    find: async (key, now) => copyOf(live(key, now)),
    list: async (kind, family, now) =>
      copiesOf(
        [...records.values()]
          .filter((record) => record.kind === kind && record.family === family && record.expiresAt > now)
          .sort(inOrderOf(({ key }) => key))
          .sort((a, b) => a.createdAt - b.createdAt),
      ),
    async consume(key, now) {
      const record = live(key, now);
      if (record?.consumedAt !== null) return false;
      records.set(key, { ...record, consumedAt: now });
      return true;
    },
    remove: async (key) => records.delete(key),
    removeFamily: async (kind, family) =>
      removeWhere((record) => record.kind === kind && record.family === family),
    count: async (kind) => [...records.values()].filter((record) => record.kind === kind).length,
    async removeEarliest(kind, most, until) {
      const first = [...records.values()]
        .filter((record) => record.kind === kind && record.expiresAt <= until)
        .sort((a, b) => a.expiresAt - b.expiresAt)
        .slice(0, most);
      for (const { key } of first) records.delete(key);
      return first.length;
    },
    removeExpired: async (now) => removeWhere(({ expiresAt }) => expiresAt <= now),
  };
}
