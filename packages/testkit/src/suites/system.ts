import type { PrimaryStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../system.ts';
import { useStore, type OpenStore } from './useStore.ts';

export function systemSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`SystemStore on ${label}`, () => {
    const store = useStore(open);

    test('the first key check counts for everybody', async () => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, i) => store().system.getOrCreateKeyCheck(`candidate-${i}`)),
      );
      expect(new Set(answers).size).toBe(1);
      expect(await store().system.getOrCreateKeyCheck('late')).toBe(answers[0]);
    });

    test('maintenance waits for no gateway and no gateway enters it', async () => {
      expect(await store().system.heartbeat('gateway-1', 60_000)).toBe('announced');
      expect(await store().system.heartbeat('gateway-1', 60_000)).toBe('announced');
      expect(await store().system.beginMaintenance('copy-1', 60_000)).toBe('refused');
      await store().system.removeWriter('gateway-1');
      expect(await store().system.beginMaintenance('copy-1', 60_000)).toBe('begun');
      expect(await store().system.beginMaintenance('copy-1', 60_000)).toBe('prolonged');
      expect(await store().system.beginMaintenance('copy-2', 60_000)).toBe('refused');
      expect(await store().system.heartbeat('gateway-2', 60_000)).toBe('in_maintenance');
      await store().system.endMaintenance('copy-2');
      expect(await store().system.heartbeat('gateway-2', 60_000)).toBe('in_maintenance');
      await store().system.endMaintenance('copy-1');
      expect(await store().system.heartbeat('gateway-2', 60_000)).toBe('announced');
    });

    test('a killed gateway and a killed copy are forgotten after their TTL', async () => {
      await store().system.heartbeat('gateway-1', 150);
      await eventually(
        'the gateway to be forgotten',
        async () => (await store().system.beginMaintenance('copy-1', 150)) === 'begun',
      );
      await eventually(
        'the copy to be forgotten',
        async () => (await store().system.heartbeat('gateway-2', 60_000)) === 'announced',
      );
    });

    test('an owner whose maintenance lapsed begins anew and is told so', async () => {
      expect(await store().system.beginMaintenance('copy-1', 150)).toBe('begun');
      await eventually(
        'the hold to lapse',
        async () => (await store().system.heartbeat('gateway-1', 60_000)) === 'announced',
      );
      expect(await store().system.beginMaintenance('copy-1', 60_000)).toBe('refused');
      await store().system.removeWriter('gateway-1');
      expect(await store().system.beginMaintenance('copy-1', 60_000)).toBe('begun');
      expect(await store().system.beginMaintenance('copy-1', 60_000)).toBe('prolonged');
    });

    test('a store that holds half a copy takes a copy and no gateway', async () => {
      expect(await store().system.heartbeat('gateway-1', 60_000)).toBe('announced');
      await store().system.removeWriter('gateway-1');
      expect(await store().system.getCopySource()).toBeNull();
      await store().system.setCopySource('$source');
      expect(await store().system.getCopySource()).toBe('$source');
      expect(await store().system.heartbeat('gateway-1', 60_000)).toBe('in_maintenance');
      expect(await store().system.beginMaintenance('copy-1', 60_000)).toBe('begun');
      await store().system.endMaintenance('copy-1');
      await store().system.setCopySource(null);
      expect(await store().system.getCopySource()).toBeNull();
      expect(await store().system.heartbeat('gateway-1', 60_000)).toBe('announced');
    });

    test('a store has one identity, and no copy takes it along', async () => {
      const names = await Promise.all(
        Array.from({ length: 10 }, (_, i) => store().system.getOrCreateIdentity(`$candidate-${i}`)),
      );
      expect(new Set(names).size).toBe(1);
      expect(await store().system.getOrCreateIdentity('late')).toBe(names[0]);
      expect(names[0]).toMatch(/^\$candidate-\d$/);
      expect(await store().raw.count('system')).toBe(0);
    });
  });
}
