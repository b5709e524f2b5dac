import type { AuthorizationServerRecord, AuthorizationServerStore } from '@behalf/gateway/ports';
import { type Tables, compareBy, copyAll, copyOrNull } from './tables.ts';

export function createMemoryAuthorizationServer({
  authorizationServer: records,
}: Tables): AuthorizationServerStore {
  const findActive = (key: string, now: number) => {
    const record = records.get(key);
    return record && record.expiresAt > now ? record : undefined;
  };
  const removeWhere = (matches: (record: AuthorizationServerRecord) => boolean) => {
    const removed = [...records.values()].filter(matches);
    for (const { key } of removed) records.delete(key);
    return removed.length;
  };

  return {
    async insert(record, now) {
      const existing = findActive(record.key, now);
      if (!existing) records.set(record.key, { ...record });
      return copyOrNull(existing);
    },
    async put(record) {
      records.set(record.key, { ...record });
    },
    find: async (key, now) => copyOrNull(findActive(key, now)),
    list: async (kind, family, now) =>
      copyAll(
        [...records.values()]
          .filter((record) => record.kind === kind && record.family === family && record.expiresAt > now)
          .sort(compareBy(({ key }) => key))
          .sort((a, b) => a.createdAt - b.createdAt),
      ),
    async consume(key, now) {
      const record = findActive(key, now);
      if (record?.consumedAt !== null) return false;
      records.set(key, { ...record, consumedAt: now });
      return true;
    },
    remove: async (key) => records.delete(key),
    removeFamily: async (kind, family) =>
      removeWhere((record) => record.kind === kind && record.family === family),
    count: async (kind) => [...records.values()].filter((record) => record.kind === kind).length,
    async removeEarliest(kind, maxCount, expiresBy) {
      const earliest = [...records.values()]
        .filter((record) => record.kind === kind && record.expiresAt <= expiresBy)
        .sort((a, b) => a.expiresAt - b.expiresAt)
        .slice(0, maxCount);
      for (const { key } of earliest) records.delete(key);
      return earliest.length;
    },
    removeExpired: async (now) => removeWhere(({ expiresAt }) => expiresAt <= now),
  };
}
