import type { SessionStore } from '@behalf/gateway/ports';
import { copyAll, copyOrNull, compareBy, removeWhere } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemorySessions({ sessions }: Tables): SessionStore {
  return {
    async insert(session) {
      sessions.set(session.hash, { ...session });
    },
    async find(hash, now) {
      const session = sessions.get(hash);
      return session && session.expiresAt > now ? copyOrNull(session) : null;
    },
    filterActive: async (hashes, now) =>
      hashes.filter((hash) => (sessions.get(hash)?.expiresAt ?? now) > now),
    list: async (userId, now) =>
      copyAll(
        [...sessions.values()]
          .filter((session) => session.userId === userId && session.expiresAt > now)
          .sort(
            compareBy(
              ({ createdAt }) => createdAt,
              ({ hash }) => hash,
            ),
          ),
      ),
    remove: async (hash) => sessions.delete(hash),
    removeByUser: async (userId) => removeWhere(sessions, (session) => session.userId === userId),
    removeExpired: async (now) => removeWhere(sessions, (session) => session.expiresAt <= now),
  };
}
