import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { Notice } from '../upstream/upstream.ts';
import type { Standing } from './feed.ts';
import { createWatches, type Watcher } from './watches.ts';

const TOOLS = 'notifications/tools/list_changed';
const UPDATED = 'notifications/resources/updated';

/** A server that is shared by all, or one user's own, and counts who listens to it. */
function createRig(owner?: string) {
  const clock = createFakeClock();
  const watches = createWatches({ clock, random: { uniform: () => 1 } as never });
  const standing = new Set<(notice: Notice) => void>();
  const log = { stood: 0, listened: 0, subscribed: [] as string[], unsubscribed: [] as string[] };
  let refuse: Error | undefined;
  const stand = async (): Promise<Standing> => {
    log.stood += 1;
    let own: ((notice: Notice) => void) | undefined;
    return {
      listen(hear) {
        log.listened += 1;
        if (own) standing.delete(own);
        own = (notice) => hear(notice);
        standing.add(own);
      },
      async subscribe(uri) {
        await Promise.resolve();
        if (refuse) throw refuse;
        log.subscribed.push(uri);
      },
      unsubscribe: (uri) => void log.unsubscribed.push(uri),
      whenOver: () => undefined,
      end() {
        if (own) standing.delete(own);
      },
    };
  };
  let people = 0;
  function watch(over: Partial<Watcher> = {}) {
    const heard: Notice[] = [];
    people += 1;
    const watcher: Watcher = {
      ...{ principal: `p${people}`, stand, mayHear: () => true, hear: (notice) => heard.push(notice) },
      ...over,
    };
    return { ...watches.watch({ key: 'k', owner, serverId: 's' }, watcher), heard };
  }
  const push = (method: string, params = {}) => {
    for (const hear of [...standing]) hear({ method, params });
  };
  return { clock, watch, push, standing, log, fail: (error?: Error) => (refuse = error) };
}

describe('those who watch one shared server', () => {
  test('hear while another fails, or was told not to', async () => {
    const { clock, watch, push } = createRig();
    const fail = () => {
      throw new Error('cannot hear');
    };
    watch({ hear: fail });
    watch({ mayHear: fail });
    const last = watch();
    await clock.advance(0);
    push(TOOLS);
    expect(last.heard).toHaveLength(1);
  });

  test('a thousand, without keeping the process to themselves', async () => {
    const { clock, watch, push } = createRig();
    let asked = 0;
    const all = Array.from({ length: 1_000 }, () => watch({ mayHear: () => ((asked += 1), true) }));
    await clock.advance(0);
    asked = 0;
    push(TOOLS);
    const atOnce = all.filter(({ heard }) => heard.length > 0).length;
    expect([atOnce > 0, atOnce <= 100]).toEqual([true, true]);
    // Who has left by then is not asked about.
    all.at(-1)!.stop();
    await clock.advance(0);
    expect(all.filter(({ heard }) => heard.length === 1)).toHaveLength(999);
    expect(asked).toBe(999);
    // The same again within a second is one for each.
    for (let n = 0; n < 50; n += 1) push(TOOLS);
    await clock.advance(1_000);
    expect(all[0]!.heard).toHaveLength(2);
  });

  test('miss nothing while others come and go', async () => {
    const { clock, watch, push, standing, log } = createRig();
    const first = watch();
    await clock.advance(0);
    const steady = watch();
    for (let round = 0; round < 20; round += 1) {
      const passing = watch();
      await clock.advance(0);
      passing.stop();
    }
    expect(log.stood).toBe(1);
    // Also the one on whose word it stands.
    first.stop();
    let heard = 0;
    for (let second = 0; second < 5; second += 1) {
      push(TOOLS);
      await clock.advance(1_000);
      heard += 1;
      expect(steady.heard).toHaveLength(heard);
    }
    expect([log.stood, standing.size]).toEqual([2, 1]);
    steady.stop();
    expect(standing.size).toBe(0);
  });

  test('hear also when who came first was shut out', async () => {
    const { clock, watch, push } = createRig();
    watch({ mayHear: () => false, stand: () => Promise.reject(new Error('No such server')) });
    const second = watch();
    await clock.advance(5_000);
    push(TOOLS);
    expect(second.heard).toHaveLength(1);
  });

  test('have room for their resources, whatever one user names', async () => {
    const { clock, watch, log } = createRig();
    const named = (n: number) => `x:${n}${'x'.repeat(4_000)}`;
    const many = Array.from({ length: 4 }, () => watch({ principal: 'm' }));
    const other = watch();
    await clock.advance(0);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) => many[n % 4]!.subscribe(named(n))),
    );
    const taken = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect([taken > 10, taken <= 16]).toEqual([true, true]);
    await clock.advance(5_000);
    await other.subscribe('y:1');
    expect(log.subscribed).toContain('y:1');
    // What is let go makes room again.
    many.forEach((one) => one.stop());
    await clock.advance(5_000);
    await watch({ principal: 'm' }).subscribe(named(50));
  });

  test('are counted once for an address that they name twice at once', async () => {
    const { clock, watch } = createRig();
    const uri = `x:${'x'.repeat(4_000)}`;
    watch();
    for (let round = 0; round < 20; round += 1) {
      const one = watch({ principal: 'm' });
      const both = Promise.all([one.subscribe(uri), one.subscribe(uri)]);
      await clock.advance(1_000);
      await both;
      one.stop();
    }
  });

  test('tell a server of many resources at once, and not of each', async () => {
    const { clock, watch, log, push } = createRig();
    const one = watch();
    await clock.advance(0);
    const before = log.listened;
    const all = Promise.all(Array.from({ length: 50 }, (_, n) => one.subscribe(`x:${n}`)));
    await clock.advance(300);
    await all;
    expect(log.listened - before).toBe(17);
    push(UPDATED, { uri: 'x:49' });
    expect(one.heard).toHaveLength(1);
  });

  test('are told alike whether a resource can be subscribed', async () => {
    const { clock, watch, push, log, fail } = createRig();
    const [one, other] = [watch(), watch()];
    await clock.advance(0);
    fail(new Error('No such resource'));
    const outcomes = await Promise.allSettled([one.subscribe('x:1'), other.subscribe('x:1')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fail();
    await Promise.all([one.subscribe('x:1'), other.subscribe('x:1')]);
    expect(log.subscribed).toEqual(['x:1']);
    push(UPDATED, { uri: 'x:1' });
    expect([one.heard.length, other.heard.length]).toEqual([1, 1]);
    one.stop();
    expect(log.unsubscribed).toEqual([]);
    other.unsubscribe('x:1');
    expect(log.unsubscribed).toEqual(['x:1']);
  });

  test('and of one user’s own none waits longer each time', async () => {
    const { clock, watch, push, standing } = createRig('ann');
    let last = watch();
    await clock.advance(0);
    for (let round = 0; round < 8; round += 1) {
      const next = watch();
      // The one on whose word it stands: that somebody leaves is no failure of the server.
      last.stop();
      await clock.advance(1_000);
      expect([round, standing.size]).toEqual([round, 1]);
      last = next;
    }
    push(TOOLS);
    expect(last.heard).toHaveLength(1);
  });
});
