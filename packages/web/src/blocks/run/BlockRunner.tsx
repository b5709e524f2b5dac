import type { BlockView, CheckedBlock, MissingParts, ServerToolsView, ToolDetail } from '@behalf/contracts';
import { useEffect, useId, useMemo, useRef, useState } from 'react';
import { ApiError } from '../../api/request.ts';
import { useStore } from '../../app/store.ts';
import { ConnectButtons, ConnectStatus } from '../../connect/ConnectButtons.tsx';
import { useConnect } from '../../connect/pageConnectControllers.ts';
import { credentialName } from '../../servers/credentials/credentialState.ts';
import { strings } from '../../strings/strings.ts';
import { RunForm, type StartResult } from '../../tools/RunForm.tsx';
import { RunView } from '../../tools/RunView.tsx';
import { ToolFields } from '../../tools/ToolRunner.tsx';
import { runs } from '../../tools/pageRuns.ts';
import { blockPath, parseLinkedArgs, useHash } from '../../tools/toolLinks.ts';
import { type ToolForm, useToolForm } from '../../tools/useToolForm.ts';
import { Badge } from '../../ui/Badge.tsx';
import { CopyButton } from '../../ui/CopyButton.tsx';
import styles from './BlockRunner.module.css';
import { FixedInputs } from './FixedInputs.tsx';
import { NeedsCard } from './NeedsCard.tsx';
import { initialRunInputs, presetValues, runInputSchema } from './runInputs.ts';

interface BlockRunnerProps {
  readonly block: BlockView;
  /** Current definition of the tool, or undefined if the server is not available. */
  readonly tool: ToolDetail | undefined;
  readonly view: ServerToolsView | undefined;
  readonly checkedBlock: CheckedBlock | undefined;
  readonly missing: MissingParts | undefined;
  /** Label of the credential that the user selected on this page. */
  readonly selectedCredential: string | undefined;
  readonly onSelectCredential: (label: string) => void;
  readonly onRecheck: () => void;
  /** Called after a version conflict. */
  readonly onReload: () => void;
}

/** Run form of a block with the credential choice, missing requirements and the last run. */
export function BlockRunner(props: BlockRunnerProps) {
  const { block, tool } = props;
  const hash = useHash();
  const linked = useMemo(() => parseLinkedArgs(hash), [hash]);
  const schema = useMemo(
    () => runInputSchema(tool?.inputSchema ?? block.inputSchema, block.inputs),
    [tool?.inputSchema, block.inputSchema, block.inputs],
  );
  const initialValues = useMemo(
    () => ({ ...initialRunInputs(schema, block.inputs), ...linked?.args }),
    [schema, block.inputs, linked],
  );
  return (
    // Another link resets the form. A changed block keeps the typed values.
    <BlockRunForm
      key={linked?.hash ?? ''}
      {...props}
      {...{ schema, initialValues }}
      isLinked={linked !== undefined}
    />
  );
}

interface RunFormProps {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly initialValues: Readonly<Record<string, unknown>>;
  readonly isLinked: boolean;
}

function BlockRunForm({ schema, initialValues, isLinked, ...props }: BlockRunnerProps & RunFormProps) {
  const { block, view, checkedBlock, onSelectCredential, onRecheck } = props;
  const { run: words, needs, credential } = strings.blocks;
  const form = useToolForm(schema, initialValues);
  const runButtonRef = useRef<HTMLButtonElement>(null);
  const needsHeadingRef = useRef<HTMLElement>(null);
  const lastRun = useStore(runs.list).find((run) => run.block?.id === block.id);
  const { selected, mustChoose, startBlock } = useBlockRun({ ...props, form });
  const [showsChoiceError, setShowsChoiceError] = useState(false);
  const heldRun = lastRun?.state === 'held' && lastRun.missing ? lastRun : undefined;
  const missing = heldRun?.missing ?? props.missing;
  const credentials = checkedBlock?.credentials;

  const heldRunId = heldRun?.id;
  useEffect(() => {
    if (heldRunId !== undefined) needsHeadingRef.current?.focus();
  }, [heldRunId]);

  function start(): Promise<StartResult> {
    setShowsChoiceError(mustChoose);
    return startBlock();
  }

  return (
    <>
      <RunForm
        label={words.title}
        runLabel={words.run}
        isLinked={isLinked}
        lastRun={lastRun}
        start={start}
        runButtonRef={runButtonRef}
        moreActions={
          <span className={styles['more']}>
            <CopyButton
              label={words.copyLink}
              text={() => location.origin + blockPath(block.id, form.currentArguments())}
            />
          </span>
        }
      >
        <InputFields
          form={form}
          hasDefaults={Object.keys(presetValues(block.inputs, ['default'])).length > 0}
        />
        <FixedInputs title={words.fixed} args={presetValues(block.inputs, ['fixed'])} />
        {credentials && hasCredentialChoice(credentials, view) && (
          <CredentialPicker
            server={block.server.name}
            title={view?.title ?? block.server.name}
            {...{ credentials, selected, onSelectCredential }}
            error={showsChoiceError && mustChoose ? credential.chooseOne : undefined}
          />
        )}
      </RunForm>
      {missing && missing.credentials.length > 0 && (
        <NeedsCard
          ref={needsHeadingRef}
          missing={{
            ...missing,
            inputs: missing.inputs.filter(({ name }) => !Object.hasOwn(form.currentArguments(), name)),
          }}
          serverOfBlock={() => block.server.name}
          nextStepText={heldRun ? needs.runContinues : needs.thenRun}
          returnTo={blockPath(block.id)}
          canChooseHere
          onNeedMet={() => {
            if (heldRun) void runs.resume(heldRun.id);
            onRecheck();
            runButtonRef.current?.focus();
          }}
          // Stores the arguments in the address, so that the form is filled when the user returns.
          onBeforeLeave={() => history.replaceState(null, '', blockPath(block.id, form.currentArguments()))}
        />
      )}
      {lastRun && <RunView run={lastRun} />}
    </>
  );
}

function InputFields({ form, hasDefaults }: { readonly form: ToolForm; readonly hasDefaults: boolean }) {
  const words = strings.blocks.run;
  const { node } = form.form;
  const isEmpty = node.kind === 'object' && node.properties.length === 0 && !node.isPartial;
  if (isEmpty && form.json === undefined && form.otherErrors.length === 0) {
    return <p className={styles['hint']}>{words.noInputs}</p>;
  }
  return (
    <>
      <ToolFields form={form} />
      {hasDefaults && <p className={styles['hint']}>{words.defaultHint}</p>}
    </>
  );
}

/** Checks whether the user has credentials, or may run without one at a server that uses user tokens. */
function hasCredentialChoice(
  { choices, mayGoWithout }: NonNullable<CheckedBlock['credentials']>,
  view: ServerToolsView | undefined,
): boolean {
  return choices.length > 0 || (mayGoWithout && view?.authority.kind === 'user_token');
}

type BlockRunParts = Pick<
  BlockRunnerProps,
  'block' | 'tool' | 'view' | 'checkedBlock' | 'selectedCredential' | 'onRecheck' | 'onReload'
> & {
  readonly form: ToolForm;
};

/** Runs a block with the displayed credential and no other. The user may have to choose one first. */
function useBlockRun({
  block,
  tool: detail,
  view,
  checkedBlock,
  selectedCredential,
  form,
  onRecheck,
  onReload,
}: BlockRunParts) {
  const credentials = checkedBlock?.credentials;
  const selected = selectedCredential ?? credentials?.selected ?? undefined;
  const choices = credentials?.choices ?? [];
  const isAvailable = choices.some(({ label }) => label === selected);
  const mustChoose = choices.length > 0 && !isAvailable;

  async function startBlock(): Promise<StartResult> {
    const inputs = form.submit();
    if (!inputs || mustChoose) return 'invalid';
    const { id, version, server, tool } = block;
    const endedRun = await runs.start({
      ...{ server: server.name, serverTitle: view?.title ?? server.name, tool, toolTitle: detail?.title },
      // All arguments that are sent, including preset ones: the approval shows them.
      args: { ...presetValues(block.inputs, ['fixed', 'default']), ...inputs },
      authority: view?.authority,
      block: { id, version, inputs, credential: selected },
    });
    return handleResult(endedRun.error);
  }

  function handleResult(error: unknown): StartResult {
    if (!(error instanceof ApiError)) return 'started';
    if (error.code === 'VERSION_CONFLICT') onReload();
    if (error.code === 'MCP_ARGUMENTS_INVALID') {
      form.showErrors(error.errors);
      return 'invalid';
    }
    if (error.code !== 'BLOCK_INCOMPLETE') return 'started';
    // The tool has new required inputs since the form was created.
    onRecheck();
    const message = strings.tools.form.errors.required;
    const missingInputs = error.problem?.missing?.inputs ?? [];
    form.showErrors(
      missingInputs.map(({ name }) => ({
        path: `arguments[${JSON.stringify(name)}]`,
        code: 'required',
        message,
      })),
    );
    return 'invalid';
  }

  return { selected, mustChoose, startBlock };
}

/**
 * Choice of the user's credentials in the order of the gateway. The default or only credential is
 * preselected. Running without a credential is the last option, if the gateway allows it.
 */
function CredentialPicker({
  server,
  title,
  credentials,
  selected,
  error,
  onSelectCredential,
}: {
  readonly server: string;
  readonly title: string;
  readonly credentials: NonNullable<CheckedBlock['credentials']>;
  readonly selected: string | undefined;
  readonly error: string | undefined;
  readonly onSelectCredential: (label: string) => void;
}) {
  const words = strings.blocks.credential;
  const id = useId();
  const { choices, mayGoWithout } = credentials;
  return (
    <fieldset
      className={styles['choices']}
      aria-describedby={`${id}-hint`}
      data-invalid={error === undefined ? undefined : true}
      tabIndex={-1}
    >
      <legend>{words.title(title)}</legend>
      {choices.map(({ label, kind, isDefault }) => (
        <label key={label} className={styles['choice']}>
          <input
            type="radio"
            name={id}
            value={label}
            checked={label === selected}
            onChange={() => onSelectCredential(label)}
          />
          <span className={styles['label']}>{credentialName(label)}</span>
          <span className={styles['muted']}>{strings.credentials.kinds[kind]}</span>
          {isDefault && <Badge>{words.isDefault}</Badge>}
        </label>
      ))}
      {mayGoWithout && (
        <label className={styles['choice']}>
          {/* Read-only: a user with a credential cannot run without it. */}
          <input type="radio" name={id} value="" checked={choices.length === 0} readOnly />
          <span className={styles['label']}>{words.none}</span>
          <span className={styles['muted']}>{words.noneHint}</span>
        </label>
      )}
      {mayGoWithout && <ConnectInstead server={server} />}
      <p id={`${id}-hint`} className={styles['hint']}>
        {error !== undefined && <span className={styles['error']}>{error} </span>}
        {words.hint}
      </p>
    </fieldset>
  );
}

function ConnectInstead({ server }: { readonly server: string }) {
  const connect = useConnect(server);
  return (
    <div className={styles['actions']}>
      <ConnectButtons connect={connect} label={strings.blocks.credential.connect} />
      <ConnectStatus connect={connect} />
    </div>
  );
}
