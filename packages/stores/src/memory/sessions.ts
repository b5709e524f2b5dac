import type { SessionRecord, SessionStore } from '@behalf/gateway/ports';
import type { Tables } from './tables.ts';

export function createMemorySessions({ sessions }: Tables): SessionStore {
  const removeWhere = (gone: (session: SessionRecord) => boolean) => {
    const hashes = [...sessions.values()].filter(gone).map((session) => session.hash);
    for (const hash of hashes) sessions.delete(hash);
    return hashes.length;
  };

  return {
    async insert(session) {
      sessions.set(session.hash, { ...session });
    },
    async find(hash, now) {
      const session = sessions.get(hash);
      return session && session.expiresAt > now ? { ...session } : null;
    },
    remove: async (hash) => sessions.delete(hash),
    removeOfUser: async (userId) => removeWhere((session) => session.userId === userId),
    removeExpired: async (now) => removeWhere((session) => session.expiresAt <= now),
  };
}
