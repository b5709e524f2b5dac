import type { SetView } from '@behalf/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, type SubmitEvent } from 'react';
import { useSearchParams } from 'wouter';
import { ApiError } from '../../api/apiError.ts';
import { invalidateBlocks } from '../../api/blocks.ts';
import { encodeSegment } from '../../api/request.ts';
import {
  runQuery,
  runsQuery,
  setCheckQuery,
  invalidateSets,
  startRun,
  type SetRunInput,
} from '../../api/sets.ts';
import styles from '../../blocks/run/BlockRunner.module.css';
import { NeedsCard } from '../../blocks/run/NeedsCard.tsx';
import { focusFirstInvalid } from '../../schemaForm/focusFirstControl.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { PastRuns } from './PastRuns.tsx';
import { RunProgress } from './RunProgress.tsx';
import { StepFields, type ShownStep } from './StepFields.tsx';

/** What a set asks for, what it needs first, how far its run is, and the runs before. Which run is shown stands in the address. */
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
    // No version: a block that is not shown yet is not run.
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
