import type { SetStep } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';

/** Where an input of a step comes from, while somebody decides. */
export type SourceDraft =
  | { readonly mode: 'fixed'; readonly text: string }
  | { readonly mode: 'from'; readonly step: string; readonly pointer: string };

type Value = Extract<SetStep['inputs'][string], { mode: 'fixed' }>['value'];

export interface StepDraft {
  readonly key: string;
  /** Empty: none is chosen yet. */
  readonly block: string;
  readonly inputs: Readonly<Record<string, SourceDraft>>;
}

export function draftOfSteps(steps: readonly SetStep[]): StepDraft[] {
  return steps.map(({ key, block, inputs }) => ({
    ...{ key, block },
    inputs: Object.fromEntries(
      Object.entries(inputs).map(([name, input]) => [
        name,
        input.mode === 'from' ? input : { mode: 'fixed', text: JSON.stringify(input.value) },
      ]),
    ),
  }));
}

/** Under a key that none of them has: those of others stay when one is removed. */
export function withStep(steps: readonly StepDraft[]): StepDraft[] {
  let number = steps.length + 1;
  while (steps.some(({ key }) => key === `step-${number}`)) number += 1;
  return [...steps, { key: `step-${number}`, block: '', inputs: {} }];
}

export function moved(steps: readonly StepDraft[], index: number, by: -1 | 1): StepDraft[] {
  const [one, other] = [steps[index], steps[index + by]];
  return one && other ? steps.with(index, other).with(index + by, one) : [...steps];
}

/** The place of what is wrong: a step, or one of its inputs. */
export const placeOf = (key: string, input = '') => JSON.stringify([key, input]);

const POINTER = /^(\/([^~/]|~[01])*)*$/;

export function readSteps(drafts: readonly StepDraft[]): {
  readonly steps: SetStep[];
  readonly errors: ReadonlyMap<string, string>;
} {
  const words = strings.sets.form;
  const errors = new Map<string, string>();
  const earlier = new Set<string>();
  const steps = drafts.map(({ key, block, inputs }): SetStep => {
    if (block === '') errors.set(placeOf(key), words.blockMissing);
    const read = Object.entries(inputs).map(([name, source]): [string, SetStep['inputs'][string]] => {
      if (source.mode === 'from') {
        if (!earlier.has(source.step)) errors.set(placeOf(key, name), words.notEarlier);
        else if (!POINTER.test(source.pointer)) errors.set(placeOf(key, name), words.pointerWrong);
        return [name, source];
      }
      try {
        return [name, { mode: 'fixed', value: JSON.parse(source.text) as Value }];
      } catch {
        errors.set(placeOf(key, name), words.valueWrong);
        return [name, { mode: 'fixed', value: null }];
      }
    });
    earlier.add(key);
    // Not by assignment: an input may be called __proto__.
    return { key, block, inputs: Object.fromEntries(read) };
  });
  return { steps, errors };
}
