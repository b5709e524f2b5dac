import type { BlockView, SetStep } from '@behalf/contracts';
import { presetValues } from '../../blocks/run/runInputs.ts';
import styles from '../../blocks/run/BlockRunner.module.css';
import { ArgumentsView } from '../../result/ArgumentsView.tsx';
import { strings } from '../../strings/strings.ts';

/** What a step sends without being asked: whoever shared the set or its block decided it, and whoever runs it answers for it. */
export function StepFixedInputs({
  step,
  steps,
  block,
}: {
  readonly step: SetStep;
  readonly steps: readonly SetStep[];
  readonly block: BlockView;
}) {
  const words = strings.sets.run;
  const entries = Object.entries(step.inputs);
  const fixedBySet = Object.fromEntries(
    entries.flatMap(([name, input]) => (input.mode === 'fixed' ? [[name, input.value]] : [])),
  );
  const fromSteps = entries.flatMap(([name, input]) => (input.mode === 'from' ? [{ name, ...input }] : []));
  return (
    <>
      {fromSteps.length > 0 && (
        <ul className={styles['list']} aria-label={words.fromSteps}>
          {fromSteps.map(({ name, step: source, pointer }) => (
            <li key={name}>
              {words.fromStep(name, steps.findIndex(({ key }) => key === source) + 1, pointer)}
            </li>
          ))}
        </ul>
      )}
      <FixedInputs title={words.fixed} args={fixedBySet} />
      <FixedInputs title={strings.blocks.run.fixed} args={presetValues(block.inputs, ['fixed'])} />
    </>
  );
}

function FixedInputs({
  title,
  args,
}: {
  readonly title: string;
  readonly args: Readonly<Record<string, unknown>>;
}) {
  if (Object.keys(args).length === 0) return null;
  return (
    <details className={styles['fixed']} open>
      <summary>{title}</summary>
      <div>
        <p className={styles['hint']}>{strings.blocks.run.fixedHint}</p>
        <ArgumentsView args={args} />
      </div>
    </details>
  );
}
