import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { ServerNotification } from '../upstream/upstream.ts';
import type { OpenStream } from './upstreamSubscription.ts';
import { createServerSubscriptions, type Subscriber } from './serverSubscriptions.ts';

const TOOLS = 'notifications/tools/list_changed';
const UPDATED = 'notifications/resources/updated';

/** A server that is shared by all, or one user's own, and counts who listens to it. */
function createRig(owner?: string) {
  const clock = createFakeClock();
  const watches = createServerSubscriptions({ clock, random: { uniform: () => 1 } as never });
  const openListeners = new Set<(notice: ServerNotification) => void>();
  const log = { stood: 0, listened: 0, subscribed: [] as string[], unsubscribed: [] as string[] };
  let refuse: Error | undefined;
  const openStream = async (): Promise<OpenStream> => {
    log.stood += 1;
    let own: ((notice: ServerNotification) => void) | undefined;
    return {
      listen(hear) {
        log.listened += 1;
        if (own) openListeners.delete(own);
        own = (notice) => hear(notice);
        openListeners.add(own);
      },
      async subscribe(uri) {
        await Promise.resolve();
        if (refuse) throw refuse;
        log.subscribed.push(uri);
      },
      unsubscribe: (uri) => void log.unsubscribed.push(uri),
      onOutdated: () => undefined,
      close() {
        if (own) openListeners.delete(own);
      },
    };
  };
  let users = 0;
  function watch(overrides: Partial<Subscriber> = {}) {
    const received: ServerNotification[] = [];
    users += 1;
    const watcher: Subscriber = {
      ...{
        principal: `p${users}`,
        openStream,
        isAllowed: () => true,
        onNotification: (notice) => received.push(notice),
      },
      ...overrides,
    };
    return { ...watches.subscribe({ key: 'k', owner, serverId: 's' }, watcher), received };
  }
  const push = (method: string, params = {}) => {
    for (const hear of [...openListeners]) hear({ method, params });
  };
  return { clock, watch, push, openListeners, log, fail: (error?: Error) => (refuse = error) };
}

describe('those who watch one shared server', () => {
  test('hear while another fails, or was told not to', async () => {
    const { clock, watch, push } = createRig();
    const fail = () => {
      throw new Error('cannot hear');
    };
    watch({ onNotification: fail });
    watch({ isAllowed: fail });
    const last = watch();
    await clock.advance(0);
    push(TOOLS);
    expect(last.received).toHaveLength(1);
  });

  test('a thousand, without keeping the process to themselves', async () => {
    const { clock, watch, push } = createRig();
    let attempts = 0;
    const all = Array.from({ length: 1_000 }, () => watch({ isAllowed: () => ((attempts += 1), true) }));
    await clock.advance(0);
    attempts = 0;
    push(TOOLS);
    const atOnce = all.filter(({ received }) => received.length > 0).length;
    expect([atOnce > 0, atOnce <= 100]).toEqual([true, true]);
    // Who has left by then is not asked about.
    all.at(-1)!.close();
    await clock.advance(0);
    expect(all.filter(({ received }) => received.length === 1)).toHaveLength(999);
    expect(attempts).toBe(999);
    // The same again within a second is one for each.
    for (let n = 0; n < 50; n += 1) push(TOOLS);
    await clock.advance(1_000);
    expect(all[0]!.received).toHaveLength(2);
  });

  test('miss nothing while others come and go', async () => {
    const { clock, watch, push, openListeners, log } = createRig();
    const first = watch();
    await clock.advance(0);
    const steady = watch();
    for (let round = 0; round < 20; round += 1) {
      const passing = watch();
      await clock.advance(0);
      passing.close();
    }
    expect(log.stood).toBe(1);
    // Also the one on whose word it stands.
    first.close();
    let receivedCount = 0;
    for (let second = 0; second < 5; second += 1) {
      push(TOOLS);
      await clock.advance(1_000);
      receivedCount += 1;
      expect(steady.received).toHaveLength(receivedCount);
    }
    expect([log.stood, openListeners.size]).toEqual([2, 1]);
    steady.close();
    expect(openListeners.size).toBe(0);
  });

  test('hear also when who came first was shut out', async () => {
    const { clock, watch, push } = createRig();
    watch({ isAllowed: () => false, openStream: () => Promise.reject(new Error('No such server')) });
    const second = watch();
    await clock.advance(5_000);
    push(TOOLS);
    expect(second.received).toHaveLength(1);
  });

  test('have room for their resources, whatever one user names', async () => {
    const { clock, watch, log } = createRig();
    const named = (n: number) => `x:${n}${'x'.repeat(4_000)}`;
    const many = Array.from({ length: 4 }, () => watch({ principal: 'm' }));
    const other = watch();
    await clock.advance(0);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) => many[n % 4]!.subscribeResource(named(n))),
    );
    const accepted = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect([accepted > 10, accepted <= 16]).toEqual([true, true]);
    await clock.advance(5_000);
    await other.subscribeResource('y:1');
    expect(log.subscribed).toContain('y:1');
    // What is let go makes room again.
    many.forEach((one) => one.close());
    await clock.advance(5_000);
    await watch({ principal: 'm' }).subscribeResource(named(50));
  });

  test('are counted once for an address that they name twice at once', async () => {
    const { clock, watch } = createRig();
    const uri = `x:${'x'.repeat(4_000)}`;
    watch();
    for (let round = 0; round < 20; round += 1) {
      const one = watch({ principal: 'm' });
      const both = Promise.all([one.subscribeResource(uri), one.subscribeResource(uri)]);
      await clock.advance(1_000);
      await both;
      one.close();
    }
  });

  test('tell a server of many resources at once, and not of each', async () => {
    const { clock, watch, log, push } = createRig();
    const one = watch();
    await clock.advance(0);
    const before = log.listened;
    const all = Promise.all(Array.from({ length: 50 }, (_, n) => one.subscribeResource(`x:${n}`)));
    await clock.advance(300);
    await all;
    expect(log.listened - before).toBe(17);
    push(UPDATED, { uri: 'x:49' });
    expect(one.received).toHaveLength(1);
  });

  test('are told alike whether a resource can be subscribed', async () => {
    const { clock, watch, push, log, fail } = createRig();
    const [one, other] = [watch(), watch()];
    await clock.advance(0);
    fail(new Error('No such resource'));
    const outcomes = await Promise.allSettled([one.subscribeResource('x:1'), other.subscribeResource('x:1')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fail();
    await Promise.all([one.subscribeResource('x:1'), other.subscribeResource('x:1')]);
    expect(log.subscribed).toEqual(['x:1']);
    push(UPDATED, { uri: 'x:1' });
    expect([one.received.length, other.received.length]).toEqual([1, 1]);
    one.close();
    expect(log.unsubscribed).toEqual([]);
    other.unsubscribeResource('x:1');
    expect(log.unsubscribed).toEqual(['x:1']);
  });

  test('and of one user’s own none waits longer each time', async () => {
    const { clock, watch, push, openListeners } = createRig('ann');
    let last = watch();
    await clock.advance(0);
    for (let round = 0; round < 8; round += 1) {
      const next = watch();
      // The one on whose word it stands: that somebody leaves is no failure of the server.
      last.close();
      await clock.advance(1_000);
      expect([round, openListeners.size]).toEqual([round, 1]);
      last = next;
    }
    push(TOOLS);
    expect(last.received).toHaveLength(1);
  });
});
