import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sleep } from './clock.ts';
import { createSingleFlight, type FlightKey } from './singleFlight.ts';

/** Work that ends when the test says so, and tells whether it was asked to stop. */
function controlled<T>() {
  const runs: { signal: AbortSignal; land: (value: T) => void; crash: (error: Error) => void }[] = [];
  const work = (signal: AbortSignal) =>
    new Promise<T>((land, crash) => {
      runs.push({ signal, land, crash });
    });
  return { runs, work };
}

const leaving = () => {
  const controller = new AbortController();
  return { signal: controller.signal, leave: () => controller.abort(new Error('left')) };
};

describe('SingleFlight', () => {
  test('who asks meanwhile shares the one outcome', async () => {
    const flights = createSingleFlight<object>();
    const { runs, work } = controlled<object>();
    const pending = Array.from({ length: 50 }, () => flights.run(['k'], work));
    expect(runs).toHaveLength(1);
    const outcome = {};
    runs[0]!.land(outcome);
    for (const got of await Promise.all(pending)) expect(got).toBe(outcome);
  });

  test('a landed flight is not joined: the next call starts anew', async () => {
    const flights = createSingleFlight<number>();
    let n = 0;
    const next = async () => (n += 1);
    expect(await flights.run(['k'], next)).toBe(1);
    expect(await flights.run(['k'], next)).toBe(2);
    expect(flights.size).toBe(0);
  });

  test('different tuples never meet, whatever they hold', async () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('null', '1', 'true', '","', '"', '\\', ':'),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    );
    const key = fc.array(part, { maxLength: 4 });
    const same = (a: FlightKey, b: FlightKey) => a.length === b.length && a.every((x, i) => x === b[i]);
    await fc.assert(
      fc.asyncProperty(key, key, async (a, b) => {
        const flights = createSingleFlight<string>();
        const outcomes = await Promise.all([
          flights.run(a, async () => 'a'),
          flights.run(b, async () => 'b'),
        ]);
        expect(outcomes).toEqual(same(a, b) ? ['a', 'a'] : ['a', 'b']);
      }),
      {
        examples: [
          [
            ['a:b', 'c'],
            ['a', 'b:c'],
          ],
          [
            ['a', 'bc'],
            ['ab', 'c'],
          ],
          [['1'], [1]],
          [['a,b'], ['a', 'b']],
        ],
      },
    );
  });

  test('a number that JSON cannot tell from null is refused', async () => {
    const flights = createSingleFlight<number>();
    for (const part of [NaN, Infinity, -Infinity]) {
      await expect(flights.run([part], async () => 1)).rejects.toThrow(RangeError);
    }
  });

  test('a failure reaches everyone who waited and nobody later', async () => {
    const flights = createSingleFlight<string>();
    const { runs, work } = controlled<string>();
    const pending = [flights.run(['k'], work), flights.run(['k'], work), flights.run(['k'], work)];
    const error = new Error('refused');
    runs[0]!.crash(error);
    for (const outcome of await Promise.allSettled(pending)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: error });
    }
    expect(await flights.run(['k'], async () => 'fresh')).toBe('fresh');
  });

  test('work that throws before its first await is a failure like another', async () => {
    const flights = createSingleFlight<string>();
    const broken = () => {
      throw new TypeError('at once');
    };
    await expect(flights.run(['k'], broken)).rejects.toThrow('at once');
    expect(flights.size).toBe(0);
    expect(await flights.run(['k'], async () => 'fresh')).toBe('fresh');
  });

  test('one caller’s abort releases that caller alone', async () => {
    const flights = createSingleFlight<string>();
    const { runs, work } = controlled<string>();
    const { signal, leave } = leaving();
    const leaver = flights.run(['k'], work, { signal });
    const stayer = flights.run(['k'], work);
    leave();
    await expect(leaver).rejects.toThrow('left');
    expect(runs[0]!.signal.aborted).toBe(false);
    const joiner = flights.run(['k'], work);
    runs[0]!.land('done');
    expect(await Promise.all([stayer, joiner])).toEqual(['done', 'done']);
    expect(runs).toHaveLength(1);
  });

  test('a signal that is aborted already starts nothing and joins nothing', async () => {
    const flights = createSingleFlight<string>();
    const { runs, work } = controlled<string>();
    const aborted = AbortSignal.abort(new Error('gone'));
    await expect(flights.run(['k'], work, { signal: aborted })).rejects.toThrow('gone');
    expect(runs).toHaveLength(0);
    const stayer = flights.run(['k'], work);
    await expect(flights.run(['k'], work, { signal: aborted })).rejects.toThrow('gone');
    expect(runs[0]!.signal.aborted).toBe(false);
    runs[0]!.land('done');
    expect(await stayer).toBe('done');
  });

  test('an abort after the landing changes nothing', async () => {
    const flights = createSingleFlight<string>();
    const { runs, work } = controlled<string>();
    const { signal, leave } = leaving();
    const pending = flights.run(['k'], work, { signal });
    runs[0]!.land('done');
    expect(await pending).toBe('done');
    leave();
    expect(runs[0]!.signal.aborted).toBe(false);
  });

  test('the work is told to stop when the last waiter leaves, not before', async () => {
    const clock = createFakeClock();
    const flights = createSingleFlight<string>();
    let receivedSignal: AbortSignal | undefined;
    const slow = async (signal: AbortSignal) => {
      receivedSignal = signal;
      await sleep(clock, 1_000, signal);
      return 'done';
    };
    const first = leaving();
    const last = leaving();
    const pending = [
      flights.run(['k'], slow, { signal: first.signal }),
      flights.run(['k'], slow, { signal: last.signal }),
    ];
    const settled = Promise.allSettled(pending);
    await clock.advance(500);
    first.leave();
    expect(receivedSignal!.aborted).toBe(false);
    last.leave();
    expect(receivedSignal!.aborted).toBe(true);
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await flights.idle();
    expect(flights.size).toBe(0);
  });

  test('detached work finishes though everybody left, and can be joined meanwhile', async () => {
    const flights = createSingleFlight<string>();
    const { runs, work } = controlled<string>();
    const { signal, leave } = leaving();
    const pending = flights.run(['k'], work, { signal, detached: true });
    leave();
    await expect(pending).rejects.toThrow('left');
    expect(runs[0]!.signal.aborted).toBe(false);
    const joiner = flights.run(['k'], work);
    expect(runs).toHaveLength(1);
    runs[0]!.land('done');
    expect(await joiner).toBe('done');
  });

  test('whoever joins detached makes the flight so', async () => {
    const flights = createSingleFlight<string>();
    const { runs, work } = controlled<string>();
    const one = leaving();
    const two = leaving();
    const pending = [
      flights.run(['k'], work, { signal: one.signal }),
      flights.run(['k'], work, { signal: two.signal, detached: true }),
    ];
    two.leave();
    one.leave();
    await Promise.allSettled(pending);
    expect(runs[0]!.signal.aborted).toBe(false);
    runs[0]!.land('done');
    await flights.idle();
  });

  test('the failure of work nobody waits for ends no process', async () => {
    const flights = createSingleFlight<string>();
    const { runs, work } = controlled<string>();
    const { signal, leave } = leaving();
    const pending = flights.run(['k'], work, { signal, detached: true });
    leave();
    await expect(pending).rejects.toThrow('left');
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', listen);
    runs[0]!.crash(new Error('nobody hears'));
    await flights.idle();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', listen);
    expect(unhandled).toEqual([]);
  });

  test('an abandoned flight neither serves nor evicts its successor', async () => {
    const flights = createSingleFlight<string>();
    const { runs, work } = controlled<string>();
    const { signal, leave } = leaving();
    const abandoned = flights.run(['k'], work, { signal });
    leave();
    await expect(abandoned).rejects.toThrow('left');
    const successor = flights.run(['k'], work);
    expect(runs).toHaveLength(2);
    // The abandoned work ignores its signal and lands late.
    runs[0]!.land('stale');
    await new Promise((resolve) => setImmediate(resolve));
    const joiner = flights.run(['k'], work);
    expect(runs).toHaveLength(2);
    runs[1]!.land('fresh');
    expect(await Promise.all([successor, joiner])).toEqual(['fresh', 'fresh']);
  });

  test('a shutdown waits for every flight, abandoned ones and those begun meanwhile', async () => {
    const flights = createSingleFlight<string>();
    const { runs, work } = controlled<string>();
    const { signal, leave } = leaving();
    const abandoned = flights.run(['k'], work, { signal });
    leave();
    await expect(abandoned).rejects.toThrow('left');
    const failing = flights.run(['other'], work);
    expect(flights.size).toBe(2);
    let idle = false;
    const waiting = flights.idle().then(() => (idle = true));
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    runs[1]!.crash(new Error('refused'));
    await expect(failing).rejects.toThrow('refused');
    const late = flights.run(['late'], work);
    runs[0]!.land('stale');
    await settle();
    expect(idle).toBe(false);
    runs[2]!.land('done');
    await late;
    await waiting;
    expect(flights.size).toBe(0);
  });

  test('has nothing to wait for when nothing is in the air', async () => {
    await createSingleFlight<string>().idle();
  });
});
