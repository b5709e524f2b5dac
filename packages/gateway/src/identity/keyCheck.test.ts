import { createKeyring, systemRandom } from '@behalf/kernel';
import { describe, expect, test } from '@jest/globals';
import { createIdentityRig } from '../../test/identityRig.ts';
import { isStoreKeyValid } from './setup.ts';

const ring = (...fills: number[]) =>
  createKeyring(
    fills.map((fill) => new Uint8Array(32).fill(fill)),
    systemRandom,
  );

describe('the key check', () => {
  test('the key that came first fits, another does not, and a rotation does', async () => {
    const { store } = createIdentityRig();
    expect(await isStoreKeyValid(store.system, ring(1))).toBe(true);
    expect(await isStoreKeyValid(store.system, ring(1))).toBe(true);
    expect(await isStoreKeyValid(store.system, ring(2))).toBe(false);
    expect(await isStoreKeyValid(store.system, ring(2, 1))).toBe(true);
    expect(await isStoreKeyValid(store.system, ring(2))).toBe(false);
  });

  test('a key check that somebody changed fits nobody', async () => {
    const { store } = createIdentityRig();
    await store.raw.put('system', [{ name: 'key-check', value: 'behalf' }]);
    expect(await isStoreKeyValid(store.system, ring(1))).toBe(false);
    const otherPurpose = ring(1).seal('behalf', {
      tenant: '-',
      principal: '-',
      server: '-',
      kind: 'system',
      field: 'x',
    });
    await store.raw.put('system', [{ name: 'key-check', value: otherPurpose }]);
    expect(await isStoreKeyValid(store.system, ring(1))).toBe(false);
  });

  test('of two replicas with different keys that start at once, one fits', async () => {
    const { store } = createIdentityRig();
    const fits = await Promise.all([1, 2, 3].map((fill) => isStoreKeyValid(store.system, ring(fill))));
    expect(fits.filter(Boolean)).toHaveLength(1);
  });

  test('a store that does not answer is not a wrong key', async () => {
    const system = { getOrCreateKeyCheck: () => Promise.reject(new Error('away')) };
    await expect(isStoreKeyValid(system as never, ring(1))).rejects.toThrow('away');
  });
});
