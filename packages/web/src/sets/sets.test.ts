import { describe, expect, test } from '@jest/globals';
import { toStepDrafts, moveStep, errorKey, parseSteps, addStep } from './edit/setDraft.ts';

describe('the steps of a set', () => {
  const steps = [
    { key: 'a', block: 'b1', inputs: { x: { mode: 'fixed' as const, value: [1, 'two'] } } },
    { key: 'c', block: 'b2', inputs: { y: { mode: 'from' as const, step: 'a', pointer: '/rows/0' } } },
  ];

  test('come out of the form as they went in', () => {
    expect(parseSteps(toStepDrafts(steps))).toEqual({ steps, errors: new Map() });
  });

  test('are told where they do not fit: an order, a pointer, a value, no block', () => {
    const drafts = toStepDrafts(steps);
    expect([...parseSteps(moveStep(drafts, 0, 1)).errors.keys()]).toEqual([errorKey('c', 'y')]);
    const [first, second] = drafts as [(typeof drafts)[0], (typeof drafts)[0]];
    const wrong = [
      { ...first, inputs: { x: { mode: 'fixed' as const, text: 'no json' } } },
      { ...second, inputs: { y: { mode: 'from' as const, step: 'a', pointer: 'rows' } } },
      { key: 'd', block: '', inputs: {} },
    ];
    expect([...parseSteps(wrong).errors.keys()]).toEqual([
      errorKey('a', 'x'),
      errorKey('c', 'y'),
      errorKey('d'),
    ]);
  });

  test('keep their keys when one is added, moved or removed', () => {
    const two = addStep(addStep([]));
    expect(two.map(({ key }) => key)).toEqual(['step-1', 'step-2']);
    expect(addStep(two.slice(1)).map(({ key }) => key)).toEqual(['step-2', 'step-3']);
    expect(moveStep(two, 1, 1)).toEqual(two);
  });
});
