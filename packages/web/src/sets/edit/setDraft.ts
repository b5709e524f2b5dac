import type { SetStep } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';

/** The source of an input while the user edits it. */
export type SourceDraft =
  | { readonly mode: 'fixed'; readonly text: string }
  | { readonly mode: 'from'; readonly step: string; readonly pointer: string };

type InputValue = Extract<SetStep['inputs'][string], { mode: 'fixed' }>['value'];

export interface StepDraft {
  readonly key: string;
  /** The id of the block. Empty until the user selects a block. */
  readonly block: string;
  readonly inputs: Readonly<Record<string, SourceDraft>>;
}

export function toStepDrafts(steps: readonly SetStep[]): StepDraft[] {
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

/** Adds a step with an unused key. The keys of the other steps do not change, because inputs refer to them. */
export function addStep(steps: readonly StepDraft[]): StepDraft[] {
  let number = steps.length + 1;
  while (steps.some(({ key }) => key === `step-${number}`)) number += 1;
  return [...steps, { key: `step-${number}`, block: '', inputs: {} }];
}

export function moveStep(steps: readonly StepDraft[], index: number, offset: -1 | 1): StepDraft[] {
  const [step, neighbor] = [steps[index], steps[index + offset]];
  return step && neighbor ? steps.with(index, neighbor).with(index + offset, step) : [...steps];
}

/** The key of an error of `parseSteps`: a step, or one of its inputs. */
export const errorKey = (key: string, input = '') => JSON.stringify([key, input]);

const POINTER_PATTERN = /^(\/([^~/]|~[01])*)*$/;

export function parseSteps(drafts: readonly StepDraft[]): {
  readonly steps: SetStep[];
  readonly errors: ReadonlyMap<string, string>;
} {
  const words = strings.sets.form;
  const errors = new Map<string, string>();
  const earlierKeys = new Set<string>();
  const steps = drafts.map(({ key, block, inputs }): SetStep => {
    if (block === '') errors.set(errorKey(key), words.blockMissing);
    const parsedInputs = Object.entries(inputs).map(([name, source]): [string, SetStep['inputs'][string]] => {
      if (source.mode === 'from') {
        if (!earlierKeys.has(source.step)) errors.set(errorKey(key, name), words.stepNotEarlier);
        else if (!POINTER_PATTERN.test(source.pointer)) errors.set(errorKey(key, name), words.pointerInvalid);
        return [name, source];
      }
      try {
        return [name, { mode: 'fixed', value: JSON.parse(source.text) as InputValue }];
      } catch {
        errors.set(errorKey(key, name), words.valueInvalid);
        return [name, { mode: 'fixed', value: null }];
      }
    });
    earlierKeys.add(key);
    // Object.fromEntries, because assignment fails for an input named __proto__.
    return { key, block, inputs: Object.fromEntries(parsedInputs) };
  });
  return { steps, errors };
}
