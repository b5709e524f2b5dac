import { describe, expect, test } from '@jest/globals';
import { draftOfSteps, moved, placeOf, readSteps, withStep } from './edit/setDraft.ts';

describe('the steps of a set', () => {
  const steps = [
    { key: 'a', block: 'b1', inputs: { x: { mode: 'fixed' as const, value: [1, 'two'] } } },
    { key: 'c', block: 'b2', inputs: { y: { mode: 'from' as const, step: 'a', pointer: '/rows/0' } } },
  ];

  test('come out of the form as they went in', () => {
    expect(readSteps(draftOfSteps(steps))).toEqual({ steps, errors: new Map() });
  });

  test('are told where they do not fit: an order, a pointer, a value, no block', () => {
    const drafts = draftOfSteps(steps);
    expect([...readSteps(moved(drafts, 0, 1)).errors.keys()]).toEqual([placeOf('c', 'y')]);
    const [first, second] = drafts as [(typeof drafts)[0], (typeof drafts)[0]];
    const wrong = [
      { ...first, inputs: { x: { mode: 'fixed' as const, text: 'no json' } } },
      { ...second, inputs: { y: { mode: 'from' as const, step: 'a', pointer: 'rows' } } },
      { key: 'd', block: '', inputs: {} },
    ];
    expect([...readSteps(wrong).errors.keys()]).toEqual([placeOf('a', 'x'), placeOf('c', 'y'), placeOf('d')]);
  });

  test('keep their keys when one is added, moved or removed', () => {
    const two = withStep(withStep([]));
    expect(two.map(({ key }) => key)).toEqual(['step-1', 'step-2']);
    expect(withStep(two.slice(1)).map(({ key }) => key)).toEqual(['step-2', 'step-3']);
    expect(moved(two, 1, 1)).toEqual(two);
  });
});
