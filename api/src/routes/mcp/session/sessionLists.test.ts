import { systemClock as clock, systemRandom as random } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { describe, expect, test } from '@jest/globals';
import { createSharedLists } from '../relay/sharedLists.ts';
import { MAX_SUBSCRIPTIONS, createSessionSubscriptions } from './sessionLists.ts';
import type { McpSession } from './sessions.ts';

const refused = { name: 'RpcFault', code: -32602 };

/** Two replicas on one store that takes its time, as every store beyond this process does. */
function replicas() {
  const store = openMemoryStore({ clock, random });
  const sharedCache = store.cache('mcp');
  const slowly = async <T>(work: () => Promise<T>): Promise<T> => {
    await new Promise((resolve) => setImmediate(resolve));
    return work();
  };
  const cache = {
    ...sharedCache,
    get: (key: string) => slowly(() => sharedCache.get(key)),
    set: (key: string, value: string, ttlMs: number) => slowly(() => sharedCache.set(key, value, ttlMs)),
  };
  const published: string[] = [];
  const changes = {
    publish: async ({ id }: { id: string }) => void published.push(id),
  };
  const replica = () =>
    createSessionSubscriptions({
      lists: createSharedLists({ cache, clock, leases: store.leases }),
      ...{ changes, clock },
    });
  const session = { key: 'k', expiresAt: clock.now() + 60_000 } as McpSession;
  return { here: replica(), there: replica(), session, published };
}

const address = (n: number) => `x:${String(n).padStart(3, '0')}`;

describe('what one session subscribes to at once', () => {
  test('is kept, all of it, at whichever replica', async () => {
    const { here, there, session, published } = replicas();
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? here : there).add(session, address(n))),
    );
    expect([...(await here.read(session))].sort()).toEqual(Array.from({ length: 40 }, (_, n) => address(n)));
    await Promise.all([
      ...Array.from({ length: 20 }, (_, n) => here.remove(session, address(n))),
      there.add(session, 'y'),
    ]);
    const left = [...(await there.read(session))].sort();
    expect(left).toEqual([...Array.from({ length: 20 }, (_, n) => address(n + 20)), 'y']);
    // Nobody reads again for what changed nothing.
    published.length = 0;
    await here.add(session, 'y');
    await here.remove(session, 'never');
    expect(published).toEqual([]);
  });

  test('within what one may have, however many ask', async () => {
    const { here, there, session } = replicas();
    const requests = Array.from({ length: MAX_SUBSCRIPTIONS + 20 }, (_, n) =>
      (n % 2 === 0 ? here : there).add(session, address(n)),
    );
    const outcomes = await Promise.allSettled(requests);
    const failed = outcomes.filter((one) => one.status === 'rejected');
    expect(failed).toHaveLength(20);
    for (const { reason } of failed) expect(reason).toMatchObject(refused);
    expect(await here.read(session)).toHaveLength(MAX_SUBSCRIPTIONS);
  });
});
