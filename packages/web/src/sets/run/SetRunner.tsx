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
  const client = useQueryClient();
  const [params, setParams] = useSearchParams();
  const shown = params.get('run');
  const check = useQuery(setCheckQuery(set.id));
  const steps = useRef(new Map<string, ShownStep>());
  const element = useRef<HTMLFormElement>(null);
  const starting = useMutation({
    mutationFn: (run: SetRunInput) => startRun(set.id, run),
    onError: (error) =>
      isChanged(error) &&
      Promise.all([invalidateSets(client), invalidateBlocks(client)]).then(() => undefined),
    onSuccess: (run) => {
      client.setQueryData(runQuery(run.id).queryKey, run);
      setParams({ run: run.id }, { replace: true });
      return client.invalidateQueries({ queryKey: runsQuery(set.id).queryKey });
    },
  });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const read = [...steps.current].map(([key, { form }]) => [key, form.submit()] as const);
    if (read.some(([, inputs]) => !inputs)) {
      requestAnimationFrame(() => focusFirstInvalid(element.current));
      return;
    }
    const inputs = Object.fromEntries(read.map(([key, given = {}]) => [key, given]));
    // No version: a block that is not shown yet is not run.
    const blocks = Object.fromEntries(
      set.steps.map(({ key }) => [key, steps.current.get(key)?.version ?? 0]),
    );
    starting.mutate({ version: set.version, inputs, blocks });
  }

  const { error } = starting;
  const refused = error instanceof ApiError ? error.problem?.missing : undefined;
  const missing = check.data?.missing ?? refused;
  const servers = new Map(check.data?.steps.map(({ id, server }) => [id, server?.name ?? '']));
  const titles = new Map(check.data?.steps.map(({ id, title = '' }) => [id, title]));
  return (
    <>
      <Card aria-label={words.title}>
        <form ref={element} className={styles['form']} noValidate onSubmit={submit}>
          {set.steps.map((step, index) => (
            <StepFields key={step.key} {...{ step, index }} steps={set.steps} shown={steps} />
          ))}
          <div className={styles['actions']}>
            <Button
              type="submit"
              variant="primary"
              isBusy={starting.isPending}
              icon={<Icon name="play" size={16} />}
            >
              {words.run}
            </Button>
          </div>
        </form>
      </Card>
      {error !== null && !isChanged(error) && <ErrorNotice error={error} />}
      {isChanged(error) && (
        <Notice tone="danger" title={words.changedTitle}>
          {words.changedText}
        </Notice>
      )}
      {missing && missing.credentials.length > 0 && (
        <NeedsCard
          missing={missing}
          serverOf={(block) => servers.get(block) ?? ''}
          titleOf={(block) => titles.get(block) ?? ''}
          afterwards={strings.blocks.needs.thenRun}
          returnTo={`/sets/${encodeSegment(set.id)}`}
          offersChoice={false}
          onMet={() => {
            starting.reset();
            void check.refetch();
          }}
        />
      )}
      {shown !== null && <RunProgress key={shown} id={shown} set={set.id} />}
      <PastRuns set={set.id} shown={shown} onShow={(run) => setParams({ run })} />
    </>
  );
}

function isChanged(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'VERSION_CONFLICT';
}
