import type { BlockInputs, BlockView, SetStep } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, type RefObject } from 'react';
import { blockQuery } from '../../api/blocks.ts';
import { useServerTitleLookup } from '../../api/serverTitleLookup.ts';
import { runInputSchema, initialRunInputs } from '../../blocks/run/runInputs.ts';
import styles from '../../blocks/run/BlockRunner.module.css';
import { strings } from '../../strings/strings.ts';
import { ToolFields } from '../../tools/ToolRunner.tsx';
import { useToolForm, type ToolForm } from '../../tools/useToolForm.ts';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { StepFixedInputs } from './StepFixedInputs.tsx';

/** The form of a step, and the version of the block that is shown with it. */
export interface ShownStep {
  readonly form: ToolForm;
  readonly version: number;
}

/** By key: whoever runs the set reads all of them. */
export type ShownSteps = RefObject<Map<string, ShownStep>>;

/** What one step brings, and what it still asks for. */
export function StepFields({
  steps,
  index,
  step,
  shownSteps,
}: {
  readonly steps: readonly SetStep[];
  readonly index: number;
  readonly step: SetStep;
  readonly shownSteps: ShownSteps;
}) {
  const words = strings.sets.run;
  const serverTitle = useServerTitleLookup();
  const { data: block, error } = useQuery(blockQuery(step.block));
  const title = block ? words.stepOf(index + 1, block.title) : strings.sets.form.step(index + 1);
  return (
    <section className={styles['group']} aria-label={title}>
      <h3>{title}</h3>
      {block && (
        <p className={styles['muted']}>
          {strings.blocks.toolOnServer(block.tool, serverTitle(block.server.name))}
        </p>
      )}
      {!block && error === null && <Skeleton lines={2} />}
      {!block && error !== null && <p className={styles['hint']}>{words.blockUnavailable}</p>}
      {block && <StepFixedInputs {...{ step, steps, block }} />}
      {block && <StepInputs {...{ block, step, shownSteps }} />}
    </section>
  );
}

function StepInputs({
  block,
  step,
  shownSteps,
}: {
  readonly block: BlockView;
  readonly step: SetStep;
  readonly shownSteps: ShownSteps;
}) {
  const inputs = useMemo<BlockInputs>(() => {
    const fixedByStep = Object.keys(step.inputs).map(
      (name) => [name, { mode: 'fixed', value: null }] as const,
    );
    return { ...block.inputs, ...Object.fromEntries(fixedByStep) };
  }, [block.inputs, step.inputs]);
  const schema = useMemo(() => runInputSchema(block.inputSchema, inputs), [block.inputSchema, inputs]);
  const initialValues = useMemo(() => initialRunInputs(schema, inputs), [schema, inputs]);
  const form = useToolForm(schema, initialValues);
  useEffect(() => {
    const all = shownSteps.current;
    all.set(step.key, { form, version: block.version });
    return () => void all.delete(step.key);
  });
  const { node } = form.form;
  if (node.kind === 'object' && node.properties.length === 0 && !node.isPartial) {
    return <p className={styles['hint']}>{strings.sets.run.noInputs}</p>;
  }
  return <ToolFields form={form} />;
}
