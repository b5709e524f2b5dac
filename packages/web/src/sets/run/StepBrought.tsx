import type { BlockView, SetStep } from '@behalf/contracts';
import { savedValues } from '../../blocks/run/askedInputs.ts';
import styles from '../../blocks/run/BlockRunner.module.css';
import { ArgumentsView } from '../../result/ArgumentsView.tsx';
import { strings } from '../../strings/strings.ts';

/** What a step sends without being asked: whoever shared the set or its block decided it, and whoever runs it answers for it. */
export function StepBrought({
  step,
  steps,
  block,
}: {
  readonly step: SetStep;
  readonly steps: readonly SetStep[];
  readonly block: BlockView;
}) {
  const words = strings.sets.run;
  const brought = Object.entries(step.inputs);
  const bySet = Object.fromEntries(
    brought.flatMap(([name, input]) => (input.mode === 'fixed' ? [[name, input.value]] : [])),
  );
  const taken = brought.flatMap(([name, input]) => (input.mode === 'from' ? [{ name, ...input }] : []));
  return (
    <>
      {taken.length > 0 && (
        <ul className={styles['list']} aria-label={words.taken}>
          {taken.map(({ name, step: source, pointer }) => (
            <li key={name}>
              {words.takenFrom(name, steps.findIndex(({ key }) => key === source) + 1, pointer)}
            </li>
          ))}
        </ul>
      )}
      <Fixed title={words.fixed} args={bySet} />
      <Fixed title={strings.blocks.run.fixed} args={savedValues(block.inputs, ['fixed'])} />
    </>
  );
}

function Fixed({
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
