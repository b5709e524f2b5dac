import { createKeyring, systemRandom as random } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createMailbox } from './mailbox.ts';

const place = { tenant: 'default', principal: 'ada', key: 'session' };

function createReplicas() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random });
  const sharedCache = store.cache('mcp');
  const cache = { ...sharedCache, get: (key: string) => sharedCache.get(key) };
  const keyring = createKeyring([Buffer.alloc(32, 1)], random);
  const mailbox = () => createMailbox({ cache, changes: store.changes, keyring, clock });
  return {
    clock,
    cache,
    sharedCache,
    changes: store.changes,
    here: mailbox(),
    there: mailbox(),
    third: mailbox(),
  };
}

describe('words between the requests of a session', () => {
  test('are heard once, also when several wait at several replicas', async () => {
    const { clock, here, there, third } = createReplicas();
    const received: string[] = [];
    here.wait(place, 'w', () => received.push('here'), { shouldPoll: true });
    there.wait(place, 'w', () => received.push('there'), { shouldPoll: true });
    await third.post(place, 'w', 'word');
    await clock.advance(10_000);
    expect(received).toHaveLength(1);
  });

  test('are heard when they come while one looks for them', async () => {
    const { clock, cache, sharedCache, changes, here, there } = createReplicas();
    let received = '';
    let goOn: () => void = () => undefined;
    here.wait(place, 'w', (word) => (received = word));
    cache.get = async (key) => {
      const value = await sharedCache.get(key);
      await new Promise<void>((resolve) => (goOn = resolve));
      return value;
    };
    // Another word of the session makes it look, and it finds nothing.
    await changes.publish({ topic: 'mcpSessions', id: place.key });
    await clock.advance(0);
    cache.get = (key) => sharedCache.get(key);
    await there.post(place, 'w', 'word');
    goOn();
    await clock.advance(0);
    expect(received).toBe('word');
  });

  test('are not asked for any more when the process ends', async () => {
    const { clock, cache, here } = createReplicas();
    let requestCount = 0;
    cache.get = async () => ((requestCount += 1), undefined);
    here.wait(place, 'w', () => undefined, { shouldPoll: true });
    await clock.advance(10_000);
    expect(requestCount).toBeGreaterThan(4);
    here.close();
    requestCount = 0;
    await clock.advance(10_000);
    expect(requestCount).toBe(0);
  });
});
