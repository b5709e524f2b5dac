import type { CoordinationStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../eventually.ts';
import { useStore, type OpenStore } from './useStore.ts';

export function leasesSuite(label: string, open: OpenStore<CoordinationStore>): void {
  describe(`Leases on ${label}`, () => {
    const store = useStore(open);

    test('of 20 parallel takers, one holds', async () => {
      const leases = await Promise.all(
        Array.from({ length: 20 }, () => store().leases.acquire('k', 'refresh', 60_000)),
      );
      const held = leases.filter((lease) => lease !== null);
      expect(held).toHaveLength(1);
      expect(await store().leases.findHolder('k')).toEqual({ owner: held[0]!.owner, purpose: 'refresh' });
      expect(await store().leases.acquire('other', 'exchange', 60_000)).not.toBeNull();
    });

    test('a released lease is free at once', async () => {
      const lease = await store().leases.acquire('k', 'refresh', 60_000);
      expect(await lease!.release()).toBe(true);
      expect(await store().leases.findHolder('k')).toBeNull();
      expect(await store().leases.acquire('k', 'exchange', 60_000)).not.toBeNull();
    });

    test('a lease nobody extends is taken over after its TTL', async () => {
      await store().leases.acquire('k', 'refresh', 120);
      const next = await eventually('the lease to expire', () =>
        store().leases.acquire('k', 'exchange', 60_000),
      );
      expect(await store().leases.findHolder('k')).toEqual({ owner: next.owner, purpose: 'exchange' });
    });

    test('who lost a lease can neither extend nor release the next one', async () => {
      const lost = (await store().leases.acquire('k', 'refresh', 120))!;
      const next = await eventually('the lease to expire', () =>
        store().leases.acquire('k', 'exchange', 60_000),
      );
      expect(await lost.extend(60_000)).toBe(false);
      expect(await lost.release()).toBe(false);
      expect((await store().leases.findHolder('k'))?.owner).toBe(next.owner);
    });

    test('an extended lease outlives its first TTL', async () => {
      // On a busy machine a short TTL may be over before it is extended: then a longer one, until it was in time.
      for (const ttlMs of [200, 800, 2_400]) {
        const key = `for ${ttlMs}`;
        const lease = (await store().leases.acquire(key, 'refresh', ttlMs))!;
        if (!(await lease.extend(60_000))) continue;
        // A second lease, later and with the first one's TTL, shows that this much time has passed.
        await store().leases.acquire('timer', 'refresh', ttlMs);
        await eventually(
          'the first TTL to pass',
          async () => (await store().leases.findHolder('timer')) === null,
        );
        expect((await store().leases.findHolder(key))?.owner).toBe(lease.owner);
        // It is the new end that counts, not a lease without one.
        expect(await lease.extend(50)).toBe(true);
        await eventually('the new end to come', async () => (await store().leases.findHolder(key)) === null);
        return;
      }
      throw new Error('A lease was never extended while it was held');
    });
  });
}
