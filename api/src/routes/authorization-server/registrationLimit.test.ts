import type { IncomingMessage } from 'node:http';
import { GRANT_LIFETIME_MS, createAuthorizationServerRecords } from '@behalf/gateway/authorization-server';
import { createKeyring, systemRandom as random } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { UNUSED_CLIENT_TTL_MS, createRegistrationLimit } from './limits.ts';

function createRig({ perMinute = 10, most = 1_000 } = {}) {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random });
  const keyring = createKeyring([Buffer.alloc(32, 1)], random);
  const records = createAuthorizationServerRecords({ store: store.authorizationServer, keyring, clock });
  const settings = { registration: { enabled: true, perMinute, most } };
  const limit = createRegistrationLimit({ settings, records, clock, clientAddressOf: ({ url = '' }) => url });
  const waitOf = (url: string) => limit({ url } as IncomingMessage);
  return { clock, records, waitOf };
}

describe('registrations', () => {
  test('a thousand in a minute are ten, or a hundred of a crowd', async () => {
    for (const [addressOf, allowed] of [
      [() => '203.0.113.1', 10],
      [(i: number) => `2001:db8:7:${i.toString(16)}::1`, 10],
      [(i: number) => `198.51.${i % 250}.${i % 4}`, 100],
    ] as const) {
      const { clock, waitOf } = createRig();
      let acceptedCount = 0;
      for (let i = 0; i < 1_000; i += 1) if ((await waitOf(addressOf(i))) === 0) acceptedCount += 1;
      expect(acceptedCount).toBe(allowed);
      await clock.advance(60_000);
      expect(await waitOf(addressOf(0))).toBe(0);
    }
  });

  test('one network that is refused takes nothing from the others', async () => {
    const { waitOf } = createRig();
    for (let i = 0; i < 1_000; i += 1) await waitOf('203.0.113.1');
    expect(await waitOf('203.0.113.2')).toBe(0);
  });

  test('a client makes room until somebody agrees to it, and after that', async () => {
    const { clock, records, waitOf } = createRig({ most: 2 });
    const known = async (...ids: string[]) => {
      const found = await Promise.all(ids.map((id) => records.find('Client', id)));
      return ids.filter((_, i) => found[i] !== null);
    };
    await records.put('Client', 'used', {}, { ttlMs: GRANT_LIFETIME_MS + UNUSED_CLIENT_TTL_MS });
    for (const id of ['one', 'two', 'three']) {
      expect(await waitOf('203.0.113.1')).toBe(0);
      await records.put('Client', id, {}, { ttlMs: UNUSED_CLIENT_TTL_MS });
      await clock.advance(1);
    }
    expect(await known('used', 'one', 'two', 'three')).toEqual(['used', 'three']);
    await records.put('Client', 'three', {}, { ttlMs: GRANT_LIFETIME_MS + UNUSED_CLIENT_TTL_MS });
    expect(await waitOf('203.0.113.1')).toBe(60 * 60 * 1000);
    expect(await known('used', 'three')).toEqual(['used', 'three']);
    // All that was granted to the older one is over by then.
    await clock.advance(GRANT_LIFETIME_MS);
    expect(await waitOf('203.0.113.1')).toBe(0);
    expect(await known('used', 'three')).toEqual(['three']);
  });
});
