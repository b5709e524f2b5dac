import type { BlockSummary, SetView } from '@behalf/contracts';
import { hasAclBit } from '@behalf/contracts/plain';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { blockQuery, blocksQuery } from '../../api/blocks.ts';
import { encodeSegment } from '../../api/request.ts';
import { useServerTitleLookup } from '../../api/servers.ts';
import { changeSet, createSet, invalidateSets, setQuery } from '../../api/sets.ts';
import styles from '../../blocks/edit/BlockEditor.module.css';
import { useUnloadWarning } from '../../hooks/useUnloadWarning.ts';
import { parseForm } from '../../schemaForm/parseNode.ts';
import { strings } from '../../strings/strings.ts';
import { Button, IconButton } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { SelectField, TextArea, TextField } from '../../ui/Field.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { showToast } from '../../ui/Toasts.tsx';
import { focusFirstInvalid } from '../../ui/focus.ts';
import {
  type SourceDraft,
  type StepDraft,
  addStep,
  errorKey,
  moveStep,
  parseSteps,
  toStepDrafts,
} from './setDraft.ts';

/** Creates or edits a set. */
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

interface StepEditorProps {
  readonly step: StepDraft;
  readonly index: number;
  /** The steps that run before this one. */
  readonly earlier: readonly StepDraft[];
  readonly blocks: readonly BlockSummary[];
  readonly errors: ReadonlyMap<string, string>;
  readonly isLast: boolean;
  readonly onChange: (step: StepDraft) => void;
  readonly onMove: (offset: -1 | 1) => void;
  readonly onRemove: () => void;
}

/** One step: its block and the sources of its inputs. */
export function StepEditor(props: StepEditorProps) {
  const { step, index, blocks, errors, isLast, onChange, onMove, onRemove } = props;
  const words = strings.sets.form;
  const number = index + 1;
  const serverTitle = useServerTitleLookup();
  const isKnown = step.block === '' || blocks.some(({ id }) => id === step.block);
  return (
    <li className={styles['row']} aria-label={words.step(number)}>
      <div className={styles['head']}>
        <p className={styles['name']}>{words.step(number)}</p>
        <span>
          <IconButton
            label={words.up(number)}
            icon={<Icon name="up" />}
            disabled={index === 0}
            onClick={() => onMove(-1)}
          />
          <IconButton
            label={words.down(number)}
            icon={<Icon name="down" />}
            disabled={isLast}
            onClick={() => onMove(1)}
          />
          <IconButton label={words.remove(number)} icon={<Icon name="trash" />} onClick={onRemove} />
        </span>
      </div>
      <SelectField
        label={words.block}
        isRequired
        error={isKnown ? errors.get(errorKey(step.key)) : words.blockUnavailable}
        value={isKnown ? step.block : ''}
        onChange={({ target }) => onChange({ ...step, block: target.value, inputs: {} })}
      >
        <option value="" disabled>
          {words.chooseBlock}
        </option>
        {blocks.map(({ id, title, server, tool }) => (
          <option key={id} value={id}>
            {`${title} (${strings.blocks.toolOnServer(tool, serverTitle(server.name))})`}
          </option>
        ))}
      </SelectField>
      {step.block !== '' && isKnown && <InputSources {...props} />}
    </li>
  );
}

/** The inputs that the block does not fix. */
function InputSources({ step, earlier, blocks, errors, onChange }: StepEditorProps) {
  const words = strings.sets.form;
  const { data: block } = useQuery(blockQuery(step.block));
  if (!block) return null;
  const { node } = parseForm(block.inputSchema);
  const declaredNames = node.kind === 'object' ? node.properties.map(({ name }) => name) : [];
  const isSettable = (name: string) =>
    !Object.hasOwn(block.inputs, name) || block.inputs[name]?.mode !== 'fixed';
  const names = [...new Set([...declaredNames, ...Object.keys(step.inputs)])].filter(isSettable);
  const titleOfBlock = (id: string) => blocks.find((one) => one.id === id)?.title ?? '';
  if (names.length === 0) return <p className={styles['hint']}>{words.noInputs}</p>;

  function setSource(name: string, source: SourceDraft | undefined): void {
    const others = Object.entries(step.inputs).filter(([other]) => other !== name);
    onChange({ ...step, inputs: Object.fromEntries(source ? [...others, [name, source]] : others) });
  }
  return (
    <>
      {names.map((name) => {
        const source = Object.hasOwn(step.inputs, name) ? step.inputs[name] : undefined;
        const selectedValue =
          source === undefined ? '' : source.mode === 'fixed' ? 'fixed' : `from ${source.step}`;
        const error = errors.get(errorKey(step.key, name));
        return (
          <div key={name} className={styles['pair']}>
            <SelectField
              label={words.sourceOf(name)}
              error={source?.mode === 'from' ? error : undefined}
              value={selectedValue}
              onChange={({ target: { value } }) => {
                if (value === '') setSource(name, undefined);
                else if (value === 'fixed') setSource(name, { mode: 'fixed', text: '' });
                else setSource(name, { mode: 'from', step: value.slice('from '.length), pointer: '' });
              }}
            >
              <option value="">{words.blockSetting}</option>
              <option value="fixed">{words.fixedValue}</option>
              {earlier.map(({ key, block: id }, position) => (
                <option key={key} value={`from ${key}`}>
                  {words.from(position + 1, titleOfBlock(id))}
                </option>
              ))}
            </SelectField>
            {source?.mode === 'fixed' && (
              <TextField
                label={words.value(name)}
                hint={words.valueHint}
                error={error}
                value={source.text}
                onChange={({ target }) => setSource(name, { mode: 'fixed', text: target.value })}
              />
            )}
            {source?.mode === 'from' && (
              <TextField
                label={words.pointer(name)}
                hint={words.pointerHint}
                spellCheck={false}
                value={source.pointer}
                onChange={({ target }) => setSource(name, { ...source, pointer: target.value })}
              />
            )}
          </div>
        );
      })}
    </>
  );
}
