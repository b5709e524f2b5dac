import { createFakeClock, eventually } from '@behalf/testkit';
import { anApiKey, aSession, aUser } from '@behalf/testkit/suites';
import { systemRandom as random } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { describe, expect, test } from '@jest/globals';
import { toPrincipal, type Authentication } from '../principal/principal.ts';
import { createRevocationMonitor } from './revocationMonitor.ts';

const USERS = ['ada', 'bob'];

async function createRig() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random });
  for (const id of USERS) {
    await store.users.insert(aUser({ id, subject: id }));
    await store.apiKeys.insert(
      anApiKey({ id: `key-${id}`, hash: `hash-${id}`, userId: id, expiresAt: clock.now() + 60_000 }),
    );
    await store.sessions.insert(aSession({ hash: `session-${id}`, userId: id }));
  }
  const requests: string[] = [];
  let failing = false;
  /** The store, and what it was asked. */
  const counted = async <T>(name: string, answer: Promise<T>): Promise<T> => {
    requests.push(name);
    if (failing) throw new Error('The store does not answer');
    return answer;
  };
  const watch = createRevocationMonitor({
    users: { findMany: (ids) => counted('users', store.users.findMany(ids)) },
    sessions: { filterActive: (ids, now) => counted('sessions', store.sessions.filterActive(ids, now)) },
    apiKeys: { filterActive: (ids, now) => counted('keys', store.apiKeys.filterActive(ids, now)) },
    signingKeys: null,
    changes: store.changes,
    clock,
  });
  const over: string[] = [];
  const ways: Record<string, (id: string) => Authentication> = {
    key: (id) => ({ via: 'api_key', key: `key-${id}`, scopes: [] }),
    cookie: (id) => ({ via: 'session', session: `session-${id}` }),
    grant: (id) => ({ via: 'bearer', grant: { session: `session-${id}`, clientId: 'c' } }),
    token: () => ({ via: 'bearer' }),
  };
  const follow = (id: string, way: string) =>
    watch.subscribe(toPrincipal(aUser({ id, subject: id }), ways[way]!(id)), () => over.push(`${id} ${way}`));
  const settled = () => eventually('it was asked', () => requests.length > 0).then(() => clock.advance(0));
  const followAll = async () => {
    for (const id of USERS) for (const way of Object.keys(ways)) follow(id, way);
    await settled();
    requests.length = 0;
  };
  return {
    ...{ clock, store, watch, requests, over, follow, followAll, settled },
    fail: (now: boolean) => (failing = now),
  };
}

describe('whoever came in with something that was taken back', () => {
  test('is told by what they came in with, and nobody else', async () => {
    const { store, over, followAll, requests, settled } = await createRig();
    await followAll();
    await store.apiKeys.remove('ada', 'key-ada');
    await store.changes.publish({ topic: 'apiKeys', id: '*' });
    await settled();
    expect([over.splice(0), requests.splice(0)]).toEqual([['ada key'], ['keys']]);
    await store.sessions.remove('session-ada');
    await store.changes.publish({ topic: 'sessions', id: 'session-ada' });
    await settled();
    expect([over.splice(0).sort(), requests.splice(0)]).toEqual([['ada cookie', 'ada grant'], ['sessions']]);
    await store.users.update('bob', { disabledAt: 1 }, 1);
    await store.users.update('ada', { role: 'ADMIN' }, 1);
    await store.changes.publish({ topic: 'users', id: '*' });
    await settled();
    expect(over.sort()).toEqual(['ada token', 'bob cookie', 'bob grant', 'bob key', 'bob token']);
    expect(requests).toEqual(['users']);
  });

  test('costs one question, however many they are', async () => {
    const { store, over, follow, requests, settled } = await createRig();
    for (let n = 0; n < 1_000; n += 1) follow(n % 2 === 0 ? 'ada' : 'bob', 'key');
    await settled();
    // When they begin, together; the second round is of those who came while the first was asked.
    expect(requests.length).toBeLessThanOrEqual(4);
    requests.length = 0;
    await store.apiKeys.remove('ada', 'key-ada');
    await store.changes.publish({ topic: 'apiKeys', id: 'hash-ada' });
    await settled();
    expect([requests, over.length, new Set(over)]).toEqual([['keys'], 500, new Set(['ada key'])]);
    for (const topic of ['servers', 'mcpSessions'] as const) await store.changes.publish({ topic, id: '*' });
    expect(requests).toHaveLength(1);
  });

  test('also when that was while they came in', async () => {
    const { store, over, follow, settled } = await createRig();
    await store.apiKeys.remove('ada', 'key-ada');
    follow('ada', 'key');
    follow('bob', 'key');
    await settled();
    expect(over).toEqual(['ada key']);
  });

  test('and as soon as the store answers again', async () => {
    const { clock, store, over, followAll, fail } = await createRig();
    await followAll();
    fail(true);
    await store.apiKeys.remove('ada', 'key-ada');
    await store.changes.publish({ topic: 'apiKeys', id: '*' });
    await clock.advance(3_000);
    expect(over).toEqual([]);
    fail(false);
    await clock.advance(1_000);
    expect(over).toEqual(['ada key']);
  });

  test('but not who has left', async () => {
    const { store, over, follow, settled, watch } = await createRig();
    const leave = follow('ada', 'key');
    follow('bob', 'key');
    await settled();
    leave();
    await store.apiKeys.removeByUser('ada');
    await store.apiKeys.removeByUser('bob');
    watch.stop();
    await store.changes.publish({ topic: 'apiKeys', id: '*' });
    expect(over).toEqual([]);
  });
});
