import type { BlockSummary, SetView } from '@behalf/contracts';
import { hasAclBit } from '@behalf/contracts/plain';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type SubmitEvent } from 'react';
import { Link, useLocation } from 'wouter';
import { blocksQuery } from '../../api/blocks.ts';
import { encodeSegment } from '../../api/request.ts';
import { changeSet, createSet, setQuery, invalidateSets } from '../../api/sets.ts';
import styles from '../../blocks/edit/BlockEditor.module.css';
import { useUnloadWarning } from '../../hooks/useUnloadWarning.ts';
import { focusFirstInvalid } from '../../schemaForm/focusFirstControl.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { TextArea, TextField } from '../../ui/Field.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { showToast } from '../../ui/toasts.ts';
import { toStepDrafts, moveStep, parseSteps, addStep, type StepDraft } from './setDraft.ts';
import { StepEditor } from './StepEditor.tsx';

/** A set that is made, or changed. */
export function SetEditPage({ id }: { readonly id?: string }) {
  const words = strings.sets;
  const blocks = useQuery(blocksQuery);
  const set = useQuery({
    ...setQuery(id ?? ''),
    ...{ enabled: id !== undefined, refetchInterval: false, refetchOnWindowFocus: false },
  });
  const error = blocks.error ?? set.error;
  const isReady = blocks.data !== undefined && (id === undefined || set.data !== undefined);
  const canEdit = set.data === undefined || hasAclBit(set.data.permissions, 'EDIT');
  const title = set.data ? words.form.editTitle(set.data.title) : words.form.newTitle;
  return (
    <Page title={title} lead={set.data ? undefined : words.form.newLead}>
      {error !== null && !isReady && <ErrorNotice error={error} />}
      {error === null && !isReady && <Skeleton lines={8} />}
      {isReady && blocks.data.length === 0 && (
        <EmptyState
          icon="block"
          title={words.form.noBlocksTitle}
          actions={<Link href="/blocks/new">{strings.blocks.add}</Link>}
        >
          {words.form.noBlocksText}
        </EmptyState>
      )}
      {isReady && canEdit && blocks.data.length > 0 && (
        <SetEditor key={set.data?.version} set={set.data} blocks={blocks.data} />
      )}
      {!canEdit && <EmptyState icon="search" title={words.notFoundTitle} />}
    </Page>
  );
}

function SetEditor({
  set,
  blocks,
}: {
  readonly set: SetView | undefined;
  readonly blocks: readonly BlockSummary[];
}) {
  const words = strings.sets.form;
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const [title, setTitle] = useState(set?.title ?? '');
  const [description, setDescription] = useState(set?.description ?? '');
  const [initialSteps] = useState<readonly StepDraft[]>(() => (set ? toStepDrafts(set.steps) : addStep([])));
  const [steps, setSteps] = useState(initialSteps);
  const [errors, setErrors] = useState<ReadonlyMap<string, string>>(new Map());
  const [failedAttempts, setFailedAttempts] = useState(0);
  const formRef = useRef<HTMLFormElement>(null);
  const saveMutation = useMutation({
    mutationFn: (parsed: SetView['steps']) => {
      const texts = { title, steps: parsed };
      const descriptionField = description.trim() === '' ? {} : { description };
      return set
        ? changeSet(set.id, { ...texts, description: null, ...descriptionField }, set.version)
        : createSet({ ...texts, ...descriptionField });
    },
    onSuccess: (saved) => {
      showToast('success', words.saved(saved.title));
      queryClient.setQueryData(setQuery(saved.id).queryKey, saved);
      navigate(`/sets/${encodeSegment(saved.id)}`);
      return invalidateSets(queryClient);
    },
  });
  useUnloadWarning((steps !== initialSteps || title !== (set?.title ?? '')) && !saveMutation.isSuccess);
  useEffect(() => {
    if (failedAttempts > 0) focusFirstInvalid(formRef.current);
  }, [failedAttempts]);

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const parsed = parseSteps(steps);
    setErrors(parsed.errors);
    if (title.trim() === '' || parsed.errors.size > 0) setFailedAttempts((count) => count + 1);
    else saveMutation.mutate(parsed.steps);
  }

  return (
    <Card>
      <form ref={formRef} className={styles['form']} noValidate onSubmit={submit}>
        <TextField
          label={words.title}
          isRequired
          error={failedAttempts > 0 && title.trim() === '' ? words.titleMissing : undefined}
          maxLength={200}
          value={title}
          onChange={({ target }) => setTitle(target.value)}
        />
        <TextArea
          label={words.description}
          rows={2}
          maxLength={4096}
          value={description}
          onChange={({ target }) => setDescription(target.value)}
        />
        <h2>{words.steps}</h2>
        <ol className={styles['inputs']} aria-label={words.steps}>
          {steps.map((step, index) => (
            <StepEditor
              key={step.key}
              {...{ step, index, blocks, errors }}
              earlier={steps.slice(0, index)}
              isLast={index === steps.length - 1}
              onChange={(next) => setSteps(steps.with(index, next))}
              onMove={(by) => setSteps(moveStep(steps, index, by))}
              onRemove={() => setSteps(steps.filter((other) => other !== step))}
            />
          ))}
        </ol>
        <div>
          <Button icon={<Icon name="plus" />} onClick={() => setSteps(addStep(steps))}>
            {words.add}
          </Button>
        </div>
        {saveMutation.error !== null && <ErrorNotice error={saveMutation.error} />}
        <div className={styles['actions']}>
          <Button
            type="submit"
            variant="primary"
            isBusy={saveMutation.isPending}
            disabled={steps.length === 0}
          >
            {words.save}
          </Button>
          <Button onClick={() => navigate(set ? `/sets/${encodeSegment(set.id)}` : '/sets')}>
            {strings.common.cancel}
          </Button>
        </div>
      </form>
    </Card>
  );
}
