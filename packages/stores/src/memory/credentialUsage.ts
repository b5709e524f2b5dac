import type { CredentialUsageStore } from '@behalf/gateway/ports';
import { copyAll, copyOrNull, compareBy } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryCredentialUsage({ credentialUsage }: Tables): CredentialUsageStore {
  return {
    put: async (usage) => void credentialUsage.set(usage.id, { ...usage }),
    find: async (id) => copyOrNull(credentialUsage.get(id)),
    listUsedSince: async (since, limit) =>
      copyAll(
        [...credentialUsage.values()]
          .filter(({ lastUsedAt }) => lastUsedAt >= since)
          .sort(
            compareBy(
              ({ lastUsedAt }) => -lastUsedAt,
              ({ id }) => id,
            ),
          )
          .slice(0, limit),
      ),
    remove: async (id) => credentialUsage.delete(id),
  };
}
