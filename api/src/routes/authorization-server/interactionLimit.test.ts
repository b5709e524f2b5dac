import type { IncomingMessage } from 'node:http';
import { createAuthorizationServerRecords } from '@behalf/gateway/authorization-server';
import { createKeyring, systemRandom as random } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { INTERACTION_MS, createInteractionLimit } from './limits.ts';

describe('questions that anybody can leave', () => {
  test('are so many, from however many networks, and the oldest end', async () => {
    const clock = createFakeClock();
    const store = openMemoryStore({ clock, random });
    const keyring = createKeyring([Buffer.alloc(32, 1)], random);
    const records = createAuthorizationServerRecords({ store: store.authorizationServer, keyring, clock });
    const limit = createInteractionLimit({
      records,
      clock,
      maxInteractions: 10,
      clientAddressOf: ({ url = '' }) => url,
    });
    const lasting = { ttlMs: 30 * INTERACTION_MS };
    for (const kind of ['Client', 'RefreshToken']) await records.put(kind, 'other', {}, lasting);
    for (let i = 0; i < 50; i += 1) {
      const from = { url: `203.0.113.${i}` } as IncomingMessage;
      expect(await limit(from, i % 2 === 0 ? 'begin' : 'resume')).toBe(0);
      await records.put('Interaction', `uid-${i}`, { uid: i }, { ttlMs: INTERACTION_MS });
      await clock.advance(1);
    }
    expect(await records.count('Interaction')).toBe(10);
    expect(await records.find('Interaction', 'uid-39')).toBeNull();
    expect(await records.find('Interaction', 'uid-40')).not.toBeNull();
    for (const kind of ['Client', 'RefreshToken']) expect(await records.find(kind, 'other')).not.toBeNull();
  });
});
