import { verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import type { Upstream } from '../upstream/upstream.ts';
import { createSharedUpstreams, type OpenUpstream, type SharedUpstreams } from './sharedUpstreams.ts';

interface FakeUpstream extends Upstream {
  closed: number;
  /** Ends the conversation from the other side, and says so as often as it is called. */
  drop(): void;
}

function fakeUpstream(): FakeUpstream {
  const listeners: (() => void)[] = [];
  const upstream: FakeUpstream = {
    closed: 0,
    listTools: async () => [],
    callTool: async () => ({}),
    onClose: (listener) => void listeners.push(listener),
    close: async () => {
      upstream.closed += 1;
      upstream.drop();
    },
    drop: () => listeners.forEach((listener) => listener()),
  };
  return upstream;
}

/** The connection itself, as work on it sees it. */
const get = (shared: SharedUpstreams, name: string) => shared.use(name, async (upstream) => upstream);

/** Openings that end when the test says so. */
function controlled() {
  const openings: {
    signal: AbortSignal;
    open: (upstream: Upstream) => void;
    refuse: (error: Error) => void;
  }[] = [];
  const opener: OpenUpstream = (signal) =>
    new Promise((open, refuse) => {
      openings.push({ signal, open, refuse });
    });
  return { openings, shared: createSharedUpstreams([{ name: 'a', revision: '1', open: opener }]) };
}

describe('shared upstreams', () => {
  verifies('connections.shared.one', 'callers at once and later share one connection', async () => {
    const { openings, shared } = controlled();
    const asked = Array.from({ length: 20 }, () => get(shared, 'a')!);
    expect(openings).toHaveLength(1);
    const upstream = fakeUpstream();
    openings[0]!.open(upstream);
    for (const got of await Promise.all(asked)) expect(got).toBe(upstream);
    expect(await get(shared, 'a')).toBe(upstream);
    expect(openings).toHaveLength(1);
    await shared.close();
    expect(upstream.closed).toBe(1);
  });

  verifies('connections.shared.one', 'an unknown name is no server, also one that every object has', () => {
    const { shared } = controlled();
    for (const name of ['b', '', '__proto__', 'constructor']) expect(get(shared, name)).toBeUndefined();
    expect(shared.names()).toEqual(['a']);
  });

  verifies(
    'connections.shared.reopened',
    'a connection that ended is opened anew at the next call',
    async () => {
      const { openings, shared } = controlled();
      const first = get(shared, 'a');
      const ended = fakeUpstream();
      openings[0]!.open(ended);
      await first;
      ended.drop();
      const second = get(shared, 'a');
      expect(openings).toHaveLength(2);
      const fresh = fakeUpstream();
      openings[1]!.open(fresh);
      expect(await second).toBe(fresh);
      // A late word of the first one changes nothing.
      ended.drop();
      expect(await get(shared, 'a')).toBe(fresh);
    },
  );

  verifies(
    'connections.shared.reopened',
    'a failure is shared by those who waited and not kept',
    async () => {
      const { openings, shared } = controlled();
      const asked = [get(shared, 'a'), get(shared, 'a')];
      openings[0]!.refuse(new Error('no such program'));
      for (const attempt of asked) await expect(attempt).rejects.toThrow('no such program');
      const again = get(shared, 'a');
      const upstream = fakeUpstream();
      openings[1]!.open(upstream);
      expect(await again).toBe(upstream);
    },
  );

  verifies(
    'connections.shared.close',
    'what is being opened at a shutdown is closed, and its opener told',
    async () => {
      const { openings, shared } = controlled();
      const asked = get(shared, 'a');
      const refused = expect(asked).rejects.toThrow('shutting down');
      let done = false;
      const closing = shared.close().then(() => (done = true));
      expect(openings[0]!.signal.aborted).toBe(true);
      await new Promise((resolve) => setImmediate(resolve));
      expect(done).toBe(false);
      const upstream = fakeUpstream();
      openings[0]!.open(upstream);
      await refused;
      await closing;
      expect(upstream.closed).toBe(1);
    },
  );

  verifies('connections.shared.close', 'nothing is opened after a shutdown', async () => {
    const { openings, shared } = controlled();
    await shared.close();
    await expect(get(shared, 'a')).rejects.toThrow('shutting down');
    expect(openings).toHaveLength(0);
  });

  verifies(
    'connections.shared.close',
    'one that cannot be closed does not keep the others open',
    async () => {
      const broken = { ...fakeUpstream(), close: () => Promise.reject(new Error('stuck')) };
      const fine = fakeUpstream();
      const shared = createSharedUpstreams([
        { name: 'broken', revision: '1', open: async () => broken },
        { name: 'fine', revision: '1', open: async () => fine },
      ]);
      await Promise.all([get(shared, 'broken'), get(shared, 'fine')]);
      await shared.close();
      await shared.close();
      expect(fine.closed).toBe(1);
    },
  );

  verifies(
    'connections.shared.update',
    'a server whose definition did not change keeps its connection, and a call under way is not cut',
    async () => {
      const [kept, changed] = [fakeUpstream(), fakeUpstream()];
      const server = (name: string, revision: string, upstream: Upstream) => ({
        name,
        revision,
        open: async () => upstream,
      });
      const shared = createSharedUpstreams([server('kept', '1', kept), server('changed', '1', changed)]);
      await get(shared, 'kept');
      let finish: () => void = () => undefined;
      const call = shared.use('changed', () => new Promise<void>((resolve) => (finish = resolve)));
      await new Promise((resolve) => setImmediate(resolve));
      const fresh = fakeUpstream();
      shared.update([server('kept', '1', kept), server('changed', '2', fresh)]);
      expect([kept.closed, changed.closed]).toEqual([0, 0]);
      expect(await get(shared, 'changed')).toBe(fresh);
      expect(await get(shared, 'kept')).toBe(kept);
      finish();
      await call;
      expect([kept.closed, changed.closed, fresh.closed]).toEqual([0, 1, 0]);
      shared.update([]);
      expect([kept.closed, fresh.closed]).toEqual([1, 1]);
      expect(get(shared, 'kept')).toBeUndefined();
      await shared.close();
    },
  );

  verifies(
    'connections.shared.update',
    'a connection that opens after its definition changed serves who waited, and is closed',
    async () => {
      const { openings, shared } = controlled();
      const waited = get(shared, 'a');
      shared.update([{ name: 'a', revision: '2', open: async () => fakeUpstream() }]);
      const late = fakeUpstream();
      openings[0]!.open(late);
      expect(await waited).toBe(late);
      expect(late.closed).toBe(1);
      expect(await get(shared, 'a')).not.toBe(late);
      await shared.close();
    },
  );
});
