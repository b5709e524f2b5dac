import { createKeyring, systemRandom as random } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/stores/memory';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createMailbox } from './mailbox.ts';

const place = { tenant: 'default', principal: 'ada', key: 'session' };

function createReplicas() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random });
  const kept = store.cache('mcp');
  const cache = { ...kept, get: (key: string) => kept.get(key) };
  const keyring = createKeyring([Buffer.alloc(32, 1)], random);
  const mailbox = () => createMailbox({ cache, changes: store.changes, keyring, clock });
  return { clock, cache, kept, changes: store.changes, here: mailbox(), there: mailbox(), third: mailbox() };
}

describe('words between the requests of a session', () => {
  test('are heard once, also when several wait at several replicas', async () => {
    const { clock, here, there, third } = createReplicas();
    const heard: string[] = [];
    here.wait(place, 'w', () => heard.push('here'), { poll: true });
    there.wait(place, 'w', () => heard.push('there'), { poll: true });
    await third.post(place, 'w', 'word');
    await clock.advance(10_000);
    expect(heard).toHaveLength(1);
  });

  test('are heard when they come while one looks for them', async () => {
    const { clock, cache, kept, changes, here, there } = createReplicas();
    let heard = '';
    let goOn: () => void = () => undefined;
    here.wait(place, 'w', (word) => (heard = word));
    cache.get = async (key) => {
      const value = await kept.get(key);
      await new Promise<void>((resolve) => (goOn = resolve));
      return value;
    };
    // Another word of the session makes it look, and it finds nothing.
    await changes.publish({ topic: 'mcpSessions', id: place.key });
    await clock.advance(0);
    cache.get = (key) => kept.get(key);
    await there.post(place, 'w', 'word');
    goOn();
    await clock.advance(0);
    expect(heard).toBe('word');
  });

  test('are not asked for any more when the process ends', async () => {
    const { clock, cache, here } = createReplicas();
    let asked = 0;
    cache.get = async () => ((asked += 1), undefined);
    here.wait(place, 'w', () => undefined, { poll: true });
    await clock.advance(10_000);
    expect(asked).toBeGreaterThan(4);
    here.close();
    asked = 0;
    await clock.advance(10_000);
    expect(asked).toBe(0);
  });
});
