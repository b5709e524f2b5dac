import type { CredentialUsageRecord, PrimaryStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

export function aUsage(overrides: Partial<CredentialUsageRecord> = {}): CredentialUsageRecord {
  return { id: 'c1', lastUsedAt: 1_000, lastOutcome: 'ok', refreshes: 0, ...overrides };
}

export function credentialUsageSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`CredentialUsageStore on ${label}`, () => {
    const store = useStore(open);

    test('the last use of each is kept, and those used since a time are listed, the last used first', async () => {
      const { credentialUsage } = store();
      expect(await credentialUsage.find('c1')).toBeNull();
      await credentialUsage.put(aUsage());
      await credentialUsage.put(aUsage({ lastUsedAt: 2_000, lastOutcome: '', refreshes: 3 }));
      expect(await credentialUsage.find('c1')).toEqual(
        aUsage({ lastUsedAt: 2_000, lastOutcome: '', refreshes: 3 }),
      );
      for (const [i, id] of ['c2', 'c3', 'c4'].entries())
        await credentialUsage.put(aUsage({ id, lastUsedAt: 3_000 + 1_000 * i }));
      const since = async (time: number, limit: number) =>
        (await credentialUsage.listUsedSince(time, limit)).map(({ id }) => id);
      expect(await since(3_000, 10)).toEqual(['c4', 'c3', 'c2']);
      expect(await since(3_001, 10)).toEqual(['c4', 'c3']);
      expect(await since(0, 2)).toEqual(['c4', 'c3']);
      expect(await credentialUsage.remove('c4')).toBe(true);
      expect(await credentialUsage.remove('c4')).toBe(false);
      expect(await since(0, 10)).toEqual(['c3', 'c2', 'c1']);
    });
  });
}
