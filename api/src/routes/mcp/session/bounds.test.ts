import { systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { cancellationName } from '../postHandler.ts';
import { createSharedLists } from '../relay/sharedLists.ts';
import type { McpSession } from './sessions.ts';
import { MAX_TOTAL_URI_LENGTH, MAX_URI_LENGTH, createSessionSubscriptions } from './sessionLists.ts';

const refused = { name: 'RpcFault', code: -32602 };

describe('what a client makes the store keep for its session', () => {
  function rig() {
    const clock = createFakeClock();
    const store = openMemoryStore({ clock, random: systemRandom });
    const subscriptions = createSessionSubscriptions({
      lists: createSharedLists({ ...store, cache: store.cache('mcp'), clock }),
      changes: store.changes,
      clock,
    });
    const session = { key: 'k', expiresAt: clock.now() + 60_000 } as McpSession;
    return { subscriptions, session };
  }

  test('no address that is too long', async () => {
    const { subscriptions, session } = rig();
    const longest = 'x'.repeat(MAX_URI_LENGTH);
    await expect(subscriptions.add(session, `${longest}x`)).rejects.toMatchObject(refused);
    await subscriptions.add(session, longest);
    expect(await subscriptions.read(session)).toEqual([longest]);
  });

  test('and not too much of them together', async () => {
    const { subscriptions, session } = rig();
    const address = (index: number) => String(index).padStart(MAX_URI_LENGTH, 'x');
    const most = MAX_TOTAL_URI_LENGTH / MAX_URI_LENGTH;
    for (let index = 0; index < most; index += 1) await subscriptions.add(session, address(index));
    await expect(subscriptions.add(session, 'y')).rejects.toMatchObject(refused);
    await subscriptions.remove(session, address(0));
    await subscriptions.add(session, 'y');
    expect(await subscriptions.read(session)).toHaveLength(most);
  });

  test('a long id of a cancelled request by a short name of its own', () => {
    const long = 'x'.repeat(1_000_000);
    expect(cancellationName(long).length).toBeLessThan(300);
    const ids = [long, `${long}x`, '1', 1, '#', cancellationName(long).slice('cancel:'.length)];
    expect(new Set(ids.map(cancellationName)).size).toBe(ids.length);
    expect(cancellationName(long)).toBe(cancellationName(long));
  });
});
