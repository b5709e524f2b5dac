import type { CredentialUsageStore } from '@behalf/gateway/ports';
import { copiesOf, copyOf, inOrderOf } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryCredentialUsage({ credentialUsage }: Tables): CredentialUsageStore {
  return {
    put: async (usage) => void credentialUsage.set(usage.id, { ...usage }),
    find: async (id) => copyOf(credentialUsage.get(id)),
    listUsedSince: async (since, limit) =>
      copiesOf(
        [...credentialUsage.values()]
          .filter(({ lastUsedAt }) => lastUsedAt >= since)
          .sort(
            inOrderOf(
              ({ lastUsedAt }) => -lastUsedAt,
              ({ id }) => id,
            ),
          )
          .slice(0, limit),
      ),
    remove: async (id) => credentialUsage.delete(id),
  };
}
