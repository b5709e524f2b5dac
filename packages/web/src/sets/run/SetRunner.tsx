import type { BlockInputs, BlockView, SetStep, SetView } from '@behalf/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type RefObject, type SubmitEvent, useEffect, useMemo, useRef } from 'react';
import { useSearchParams } from 'wouter';
import { blockQuery, invalidateBlocks } from '../../api/blocks.ts';
import { ApiError, encodeSegment } from '../../api/request.ts';
import { useServerTitleLookup } from '../../api/servers.ts';
import {
  type SetRunInput,
  invalidateSets,
  runQuery,
  runsQuery,
  setCheckQuery,
  startRun,
} from '../../api/sets.ts';
import styles from '../../blocks/run/BlockRunner.module.css';
import { FixedInputs } from '../../blocks/run/FixedInputs.tsx';
import { NeedsCard } from '../../blocks/run/NeedsCard.tsx';
import { initialRunInputs, presetValues, runInputSchema } from '../../blocks/run/runInputs.ts';
import { strings } from '../../strings/strings.ts';
import { ToolFields } from '../../tools/ToolRunner.tsx';
import { type ToolForm, useToolForm } from '../../tools/useToolForm.ts';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { focusFirstInvalid } from '../../ui/focus.ts';
import { PastRuns, RunProgress } from './RunProgress.tsx';

/**
 * The inputs and missing sign-ins of a set, the progress of a run, and earlier runs. The URL contains the shown
 * run.
 */
export function SetRunner({ set }: { readonly set: SetView }) {
  const words = strings.sets.run;
  const queryClient = useQueryClient();
  const [params, setParams] = useSearchParams();
  const shownRun = params.get('run');
  const check = useQuery(setCheckQuery(set.id));
  const shownSteps = useRef(new Map<string, ShownStep>());
  const formRef = useRef<HTMLFormElement>(null);
  const startMutation = useMutation({
    mutationFn: (run: SetRunInput) => startRun(set.id, run),
    onError: (error) =>
      isVersionConflict(error) &&
      Promise.all([invalidateSets(queryClient), invalidateBlocks(queryClient)]).then(() => undefined),
    onSuccess: (run) => {
      queryClient.setQueryData(runQuery(run.id).queryKey, run);
      setParams({ run: run.id }, { replace: true });
      return queryClient.invalidateQueries({ queryKey: runsQuery(set.id).queryKey });
    },
  });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const submitted = [...shownSteps.current].map(([key, { form }]) => [key, form.submit()] as const);
    if (submitted.some(([, inputs]) => !inputs)) {
      requestAnimationFrame(() => focusFirstInvalid(formRef.current));
      return;
    }
    const inputs = Object.fromEntries(submitted.map(([key, stepInputs = {}]) => [key, stepInputs]));
    // Version 0 matches no block: a block that is not displayed yet must not run.
    const blocks = Object.fromEntries(
      set.steps.map(({ key }) => [key, shownSteps.current.get(key)?.version ?? 0]),
    );
    startMutation.mutate({ version: set.version, inputs, blocks });
  }

  const { error } = startMutation;
  const missingInError = error instanceof ApiError ? error.problem?.missing : undefined;
  const missing = check.data?.missing ?? missingInError;
  const serverByBlock = new Map(check.data?.steps.map(({ id, server }) => [id, server?.name ?? '']));
  const titleByBlock = new Map(check.data?.steps.map(({ id, title = '' }) => [id, title]));
  return (
    <>
      <Card aria-label={words.title}>
        <form ref={formRef} className={styles['form']} noValidate onSubmit={submit}>
          {set.steps.map((step, index) => (
            <StepFields key={step.key} {...{ step, index }} steps={set.steps} shownSteps={shownSteps} />
          ))}
          <div className={styles['actions']}>
            <Button
              type="submit"
              variant="primary"
              isBusy={startMutation.isPending}
              icon={<Icon name="play" size={16} />}
            >
              {words.run}
            </Button>
          </div>
        </form>
      </Card>
      {error !== null && !isVersionConflict(error) && <ErrorNotice error={error} />}
      {isVersionConflict(error) && (
        <Notice tone="danger" title={words.changedTitle}>
          {words.changedText}
        </Notice>
      )}
      {missing && missing.credentials.length > 0 && (
        <NeedsCard
          missing={missing}
          serverOfBlock={(block) => serverByBlock.get(block) ?? ''}
          titleOfBlock={(block) => titleByBlock.get(block) ?? ''}
          nextStepText={strings.blocks.needs.thenRun}
          returnTo={`/sets/${encodeSegment(set.id)}`}
          canChooseHere={false}
          onNeedMet={() => {
            startMutation.reset();
            void check.refetch();
          }}
        />
      )}
      {shownRun !== null && <RunProgress key={shownRun} id={shownRun} set={set.id} />}
      <PastRuns set={set.id} shownRun={shownRun} onSelect={(run) => setParams({ run })} />
    </>
  );
}

function isVersionConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'VERSION_CONFLICT';
}

/** The form of a step, and the block version that is shown with it. */
interface ShownStep {
  readonly form: ToolForm;
  readonly version: number;
}

/** By step key. */
type ShownSteps = RefObject<Map<string, ShownStep>>;

/** The fixed inputs of a step, and the fields for the others. */
function StepFields({
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

/**
 * Inputs that the block or the set fixes. The user must be able to see them, because the call runs with the user's
 * credentials.
 */
function StepFixedInputs({
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
