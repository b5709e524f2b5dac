import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSingleFlight } from './singleFlight.ts';

/** One flight as the model knows it. `waiting` are the callers that have neither left nor been answered. */
interface Modelled {
  run: number;
  detached: boolean;
  waiting: Set<number>;
}

const KEYS = 2;
/** Seldom, because a detached flight hides what leaving does. */
const detached = fc.nat(4).map((chance) => chance === 0);
// Low numbers, so that most steps meet a caller or a run that is there.
const step = fc.oneof(
  fc.record({ do: fc.constant('ask' as const), key: fc.nat(KEYS - 1), detached }),
  fc.record({ do: fc.constant('leave' as const), caller: fc.nat(7) }),
  fc.record({ do: fc.constant('land' as const), run: fc.nat(5), well: fc.boolean() }),
);

describe('SingleFlight against a model', () => {
  test('any order of asking, leaving and landing keeps every rule', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 30 }), async (steps) => {
        const flights = createSingleFlight<number>();
        const runs: { signal: AbortSignal; land: () => void; crash: () => void; landed: boolean }[] = [];
        const callers: { controller: AbortController; outcome: string }[] = [];
        const expected: string[] = [];
        const flying = new Map<number, Modelled>();
        const all: Modelled[] = [];
        const aborted = new Set<number>();

        for (const action of steps) {
          if (action.do === 'ask') {
            const controller = new AbortController();
            const caller = { controller, outcome: 'waits' };
            const id = callers.push(caller) - 1;
            expected.push('waits');
            let flight = flying.get(action.key);
            if (!flight) {
              flight = { run: runs.length, detached: false, waiting: new Set() };
              flying.set(action.key, flight);
              all.push(flight);
            }
            flight.detached ||= action.detached;
            flight.waiting.add(id);
            flights
              .run(
                [action.key],
                (signal) =>
                  new Promise((resolve, reject) => {
                    const run = runs.length;
                    runs.push({
                      signal,
                      land: () => resolve(run),
                      crash: () => reject(new Error(String(run))),
                      landed: false,
                    });
                  }),
                { signal: controller.signal, detached: action.detached },
              )
              .then(
                (run) => (caller.outcome = `value ${run}`),
                (error: unknown) =>
                  (caller.outcome = controller.signal.aborted ? 'left' : `error ${(error as Error).message}`),
              );
          } else if (action.do === 'leave') {
            const flight = all.find(({ waiting }) => waiting.has(action.caller));
            if (!flight) continue;
            callers[action.caller]!.controller.abort();
            expected[action.caller] = 'left';
            flight.waiting.delete(action.caller);
            if (flight.waiting.size > 0 || flight.detached) continue;
            aborted.add(flight.run);
            for (const [key, current] of flying) if (current === flight) flying.delete(key);
          } else {
            const run = runs[action.run];
            if (!run || run.landed) continue;
            run.landed = true;
            if (action.well) run.land();
            else run.crash();
            const flight = all.find((candidate) => candidate.run === action.run)!;
            for (const caller of flight.waiting) {
              expected[caller] = `${action.well ? 'value' : 'error'} ${action.run}`;
            }
            flight.waiting.clear();
            for (const [key, current] of flying) if (current === flight) flying.delete(key);
          }
          await new Promise((resolve) => setImmediate(resolve));
          expect(callers.map(({ outcome }) => outcome)).toEqual(expected);
          expect(runs).toHaveLength(all.length);
          expect(runs.flatMap(({ signal }, run) => (signal.aborted ? [run] : []))).toEqual(
            [...aborted].sort((a, b) => a - b),
          );
          expect(flights.size).toBe(runs.filter(({ landed }) => !landed).length);
        }
      }),
      { numRuns: 300 },
    );
  });
});
