import { systemClock as clock, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { describe, expect, test } from '@jest/globals';
import { createSharedLists } from '../relay/sharedLists.ts';
import { MAX_ELICITATIONS, createElicitations } from './sessionLists.ts';
import type { McpSession } from './sessions.ts';

describe('pages that a session was told to open', () => {
  const store = openMemoryStore({ clock, random: systemRandom });
  const cache = store.cache('mcp');
  const session = { key: 'k', expiresAt: clock.now() + 60_000 } as McpSession;
  const replica = () =>
    createElicitations({
      lists: createSharedLists({ cache, clock, leases: store.leases }),
      ...{ changes: store.changes, clock },
    });

  test('are kept once, of many the newest', async () => {
    const [here, there] = [replica(), replica()];
    for (let n = 0; n < MAX_ELICITATIONS + 4; n += 1) await here.add(session, { id: `e${n}`, server: 's' });
    await there.add(session, { id: 'e19', server: 's' });
    const stored = (await there.read(session)).map(({ id }) => id);
    expect([stored.length, stored[0], stored.at(-1)]).toEqual([MAX_ELICITATIONS, 'e4', 'e19']);
    // Of two who would tell it, at two replicas, one does.
    const done = { id: 'e4', server: 's' };
    expect([await here.remove(session, done), await there.remove(session, done)]).toEqual([true, false]);
  });
});
