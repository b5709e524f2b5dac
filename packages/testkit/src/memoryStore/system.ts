import { KEY_CHECK, type SystemStore } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import type { Tables } from './tables.ts';

export function createMemorySystem({ system }: Tables, clock: Clock): SystemStore {
  const writers = new Map<string, number>();
  let maintenance: { owner: string; expiresAt: number } | null = null;
  let identity: string | null = null;
  let copySource: string | null = null;

  return {
    async getOrCreateKeyCheck(candidate) {
      const existing = system.get(KEY_CHECK);
      if (existing) return existing.value;
      system.set(KEY_CHECK, { name: KEY_CHECK, value: candidate });
      return candidate;
    },
    async heartbeat(writer, ttlMs) {
      const now = clock.now();
      if (copySource !== null || (maintenance && maintenance.expiresAt > now)) return 'in_maintenance';
      writers.set(writer, now + ttlMs);
      return 'announced';
    },
    async removeWriter(writer) {
      writers.delete(writer);
    },
    async beginMaintenance(owner, ttlMs) {
      const now = clock.now();
      if ([...writers.values()].some((expiresAt) => expiresAt > now)) return 'refused';
      const activeOwner = maintenance && maintenance.expiresAt > now ? maintenance.owner : null;
      if (activeOwner !== null && activeOwner !== owner) return 'refused';
      maintenance = { owner, expiresAt: now + ttlMs };
      return activeOwner === owner ? 'prolonged' : 'begun';
    },
    async endMaintenance(owner) {
      if (maintenance?.owner === owner) maintenance = null;
    },
    getOrCreateIdentity: async (candidate) => (identity ??= candidate),
    getCopySource: async () => copySource,
    async setCopySource(source) {
      copySource = source;
    },
  };
}
