import type { ApiKeyStore } from '@behalf/gateway/ports';
import { copyAll, copyOrNull, compareBy, assertUnique, removeWhere } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryApiKeys({ apiKeys }: Tables): ApiKeyStore {
  return {
    async insert(key) {
      if (apiKeys.has(key.id)) throw new Error('An API key with this id already exists');
      assertUnique(apiKeys, key, 'hash');
      apiKeys.set(key.id, { ...key });
    },
    findByHash: async (hash, now) =>
      copyOrNull([...apiKeys.values()].find((key) => key.hash === hash && key.expiresAt > now)),
    filterActive: async (ids, now) => ids.filter((id) => (apiKeys.get(id)?.expiresAt ?? now) > now),
    list: async (userId) =>
      copyAll(
        [...apiKeys.values()]
          .filter((key) => key.userId === userId)
          .sort(
            compareBy(
              ({ createdAt }) => createdAt,
              ({ id }) => id,
            ),
          ),
      ),
    async remove(userId, id) {
      const key = apiKeys.get(id);
      if (key?.userId !== userId) return null;
      apiKeys.delete(id);
      return key;
    },
    removeByUser: async (userId) => removeWhere(apiKeys, (key) => key.userId === userId),
    removeExpired: async (now) => removeWhere(apiKeys, (key) => key.expiresAt <= now),
    async touch(id, usedAt) {
      const key = apiKeys.get(id);
      if (key && (key.lastUsedAt ?? 0) < usedAt) apiKeys.set(id, { ...key, lastUsedAt: usedAt });
    },
  };
}
