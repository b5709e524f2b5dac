import type { BlockInputs, BlockView, SetStep } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, type RefObject } from 'react';
import { blockQuery } from '../../api/blocks.ts';
import { useServerTitles } from '../../api/serverTitles.ts';
import { askedSchema, proposedInputs } from '../../blocks/run/askedInputs.ts';
import styles from '../../blocks/run/BlockRunner.module.css';
import { strings } from '../../strings/strings.ts';
import { ToolFields } from '../../tools/ToolRunner.tsx';
import { useToolForm, type ToolForm } from '../../tools/useToolForm.ts';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { StepBrought } from './StepBrought.tsx';

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
  shown,
}: {
  readonly steps: readonly SetStep[];
  readonly index: number;
  readonly step: SetStep;
  readonly shown: ShownSteps;
}) {
  const words = strings.sets.run;
  const serverTitle = useServerTitles();
  const { data: block, error } = useQuery(blockQuery(step.block));
  const title = block ? words.stepOf(index + 1, block.title) : strings.sets.form.step(index + 1);
  return (
    <section className={styles['group']} aria-label={title}>
      <h3>{title}</h3>
      {block && (
        <p className={styles['muted']}>{strings.blocks.of(block.tool, serverTitle(block.server.name))}</p>
      )}
      {!block && error === null && <Skeleton lines={2} />}
      {!block && error !== null && <p className={styles['hint']}>{words.blockGone}</p>}
      {block && <StepBrought {...{ step, steps, block }} />}
      {block && <Asked {...{ block, step, shown }} />}
    </section>
  );
}

function Asked({
  block,
  step,
  shown,
}: {
  readonly block: BlockView;
  readonly step: SetStep;
  readonly shown: ShownSteps;
}) {
  const inputs = useMemo<BlockInputs>(() => {
    const brought = Object.keys(step.inputs).map((name) => [name, { mode: 'fixed', value: null }] as const);
    return { ...block.inputs, ...Object.fromEntries(brought) };
  }, [block.inputs, step.inputs]);
  const schema = useMemo(() => askedSchema(block.inputSchema, inputs), [block.inputSchema, inputs]);
  const first = useMemo(() => proposedInputs(schema, inputs), [schema, inputs]);
  const form = useToolForm(schema, first);
  useEffect(() => {
    const all = shown.current;
    all.set(step.key, { form, version: block.version });
    return () => void all.delete(step.key);
  });
  const { node } = form.form;
  if (node.kind === 'object' && node.properties.length === 0 && !node.isPartial) {
    return <p className={styles['hint']}>{strings.sets.run.noInputs}</p>;
  }
  return <ToolFields form={form} />;
}
