import type { BlockView, CheckedBlock, MissingParts, ServerToolsView, ToolDetail } from '@behalf/contracts';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type SubmitEvent } from 'react';
import { useStore } from '../../app/store.ts';
import { ArgumentsView } from '../../result/ArgumentsView.tsx';
import { focusFirstInvalid } from '../../schemaForm/focusFirstControl.ts';
import { strings } from '../../strings/strings.ts';
import { runs } from '../../tools/pageRuns.ts';
import { RunView } from '../../tools/RunView.tsx';
import { blockAddress, readLink } from '../../tools/toolAddress.ts';
import { ToolFields } from '../../tools/ToolRunner.tsx';
import { useHash } from '../../tools/useHash.ts';
import { useToolForm, type ToolForm } from '../../tools/useToolForm.ts';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Spinner } from '../../ui/Spinner.tsx';
import { askedSchema, proposedInputs, savedValues } from './askedInputs.ts';
import styles from './BlockRunner.module.css';
import { CredentialPicker } from './CredentialPicker.tsx';
import { NeedsCard } from './NeedsCard.tsx';
import { useBlockRun } from './useBlockRun.ts';

export interface RunnerProps {
  readonly block: BlockView;
  /** As the server shows them now; undefined: it cannot be asked. */
  readonly tool: ToolDetail | undefined;
  readonly view: ServerToolsView | undefined;
  readonly checked: CheckedBlock | undefined;
  readonly missing: MissingParts | undefined;
  /** The credential that its user chose on this page. */
  readonly picked: string | undefined;
  readonly onPick: (label: string) => void;
  readonly onRecheck: () => void;
  /** The block was changed by somebody meanwhile. */
  readonly onReload: () => void;
}

/** The form of a block, with which credential it runs, what it still needs, and what came of its last run. */
export function BlockRunner(props: RunnerProps) {
  const { block, tool } = props;
  const hash = useHash();
  const linked = useMemo(() => readLink(hash), [hash]);
  const schema = useMemo(
    () => askedSchema(tool?.inputSchema ?? block.inputSchema, block.inputs),
    [tool?.inputSchema, block.inputSchema, block.inputs],
  );
  const first = useMemo(
    () => ({ ...proposedInputs(schema, block.inputs), ...linked?.args }),
    [schema, block.inputs, linked],
  );
  return (
    // Another link begins anew; when the block is changed meanwhile, what was typed stays.
    <Runner key={linked?.hash ?? ''} {...props} {...{ schema, first }} isLinked={linked !== undefined} />
  );
}

interface Begun {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly first: Readonly<Record<string, unknown>>;
  readonly isLinked: boolean;
}

function Runner({ schema, first, isLinked, ...props }: RunnerProps & Begun) {
  const { block, view, checked, onPick, onRecheck } = props;
  const { run: words, needs, credential } = strings.blocks;
  const { panel } = strings.tools;
  const form = useToolForm(schema, first);
  const element = useRef<HTMLFormElement>(null);
  const runButton = useRef<HTMLButtonElement>(null);
  const picker = useRef<HTMLFieldSetElement>(null);
  const needsTitle = useRef<HTMLElement>(null);
  const [shownTimes, showErrors] = useState(0);
  const last = useStore(runs.list).find((run) => run.block?.id === block.id);
  const { selected, hasToChoose, start } = useBlockRun({ ...props, form });
  const [isChoiceMissed, setChoiceMissed] = useState(false);
  const isRunning = last?.state === 'running';
  const held = last?.state === 'held' && last.missing ? last : undefined;
  const missing = held?.missing ?? props.missing;
  const credentials = checked?.credentials;
  const fixed = savedValues(block.inputs, ['fixed']);

  useEffect(() => {
    if (shownTimes > 0) focusFirstInvalid(element.current);
  }, [shownTimes]);
  const heldId = held?.id;
  useEffect(() => {
    if (heldId !== undefined) needsTitle.current?.focus();
  }, [heldId]);

  async function run(): Promise<void> {
    if (isRunning) return;
    setChoiceMissed(hasToChoose);
    const wanted = await start();
    if (wanted === 'corrected') showErrors((times) => times + 1);
    else if (wanted === 'choose') picker.current?.focus();
  }
  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    void run();
  }
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void run();
  }

  return (
    <>
      {isLinked && (
        <Notice tone="info" title={panel.fromLink}>
          {panel.fromLinkText}
        </Notice>
      )}
      <Card aria-label={words.title}>
        <form ref={element} className={styles['form']} noValidate onSubmit={onSubmit} onKeyDown={onKeyDown}>
          <AskedFields
            form={form}
            hasProposals={Object.keys(savedValues(block.inputs, ['default'])).length > 0}
          />
          {Object.keys(fixed).length > 0 && (
            <details className={styles['fixed']} open>
              <summary>{words.fixed}</summary>
              <div>
                <p className={styles['hint']}>{words.fixedHint}</p>
                <ArgumentsView args={fixed} />
              </div>
            </details>
          )}
          {credentials && offersChoice(credentials, view) && (
            <CredentialPicker
              ref={picker}
              server={block.server.name}
              title={view?.title ?? block.server.name}
              {...{ credentials, selected, onPick }}
              error={isChoiceMissed && hasToChoose ? credential.missing : undefined}
            />
          )}
          <div className={styles['actions']}>
            <Button
              ref={runButton}
              type="submit"
              variant="primary"
              aria-disabled={isRunning}
              aria-busy={isRunning}
              icon={isRunning ? <Spinner /> : <Icon name="play" size={16} />}
            >
              {words.run}
            </Button>
            {isRunning && <Button onClick={() => runs.cancel(last.id)}>{panel.cancel}</Button>}
            <span className={styles['more']}>
              <CopyButton
                label={words.copyLink}
                text={() => location.origin + blockAddress(block.id, form.peek())}
              />
            </span>
          </div>
        </form>
      </Card>
      {missing && missing.credentials.length > 0 && (
        <NeedsCard
          ref={needsTitle}
          missing={{
            ...missing,
            inputs: missing.inputs.filter(({ name }) => !Object.hasOwn(form.peek(), name)),
          }}
          serverOf={() => block.server.name}
          afterwards={held ? needs.goesOn : needs.thenRun}
          returnTo={blockAddress(block.id)}
          offersChoice
          onMet={() => {
            if (held) void runs.goOn(held.id);
            onRecheck();
            runButton.current?.focus();
          }}
          // The form is filled in again for who comes back.
          onLeave={() => history.replaceState(null, '', blockAddress(block.id, form.peek()))}
        />
      )}
      {last && <RunView run={last} />}
    </>
  );
}

function AskedFields({ form, hasProposals }: { readonly form: ToolForm; readonly hasProposals: boolean }) {
  const words = strings.blocks.run;
  const { node } = form.form;
  const isEmpty = node.kind === 'object' && node.properties.length === 0 && !node.isPartial;
  if (isEmpty && form.json === undefined && form.others.length === 0) {
    return <p className={styles['hint']}>{words.noInputs}</p>;
  }
  return (
    <>
      <ToolFields form={form} />
      {hasProposals && <p className={styles['hint']}>{words.proposed}</p>}
    </>
  );
}

/** Where the user has something of their own to choose, or may go without although others sign in. */
function offersChoice(
  { choices, mayGoWithout }: NonNullable<CheckedBlock['credentials']>,
  view: ServerToolsView | undefined,
): boolean {
  return choices.length > 0 || (mayGoWithout && view?.authority.kind === 'user_token');
}
