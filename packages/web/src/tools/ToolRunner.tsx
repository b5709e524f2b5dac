import type { ServerToolsView, ToolDetail } from '@behalf/contracts';
import { useEffect, useRef, type KeyboardEvent, type SubmitEvent } from 'react';
import { useLocation } from 'wouter';
import { ApiError } from '../api/request.ts';
import { useStore } from '../app/store.ts';
import type { JsonRecord } from '../result/json.ts';
import { pathKey } from '../schemaForm/fieldPath.ts';
import { focusFirstInvalid } from '../ui/focus.ts';
import { SchemaForm } from '../schemaForm/SchemaForm.tsx';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Card } from '../ui/Card.tsx';
import { CopyButton } from '../ui/CopyButton.tsx';
import { Switch, TextArea } from '../ui/Field.tsx';
import { Icon } from '../ui/Icon.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Spinner } from '../ui/Spinner.tsx';
import { curlCommand, newBlockPath, toolPath } from './toolLinks.ts';
import { runs } from './pageRuns.ts';
import { RunView } from './RunView.tsx';
import styles from './ToolRunner.module.css';
import { useToolForm, type ToolForm } from './useToolForm.ts';

/** The form of a tool and its last run. */
export function ToolRunner({
  tool,
  view,
  args,
  isLinked,
}: {
  readonly tool: ToolDetail;
  readonly view: ServerToolsView;
  readonly args: JsonRecord | undefined;
  readonly isLinked: boolean;
}) {
  const words = strings.tools.panel;
  const [, navigate] = useLocation();
  const form = useToolForm(tool.inputSchema, args);
  const formRef = useRef<HTMLFormElement>(null);
  const runButtonRef = useRef<HTMLButtonElement>(null);
  const focusErrorsRef = useRef(false);
  const lastRun = useStore(runs.list).find(
    (run) => !run.block && run.server === view.serverName && run.tool === tool.name,
  );
  const state = lastRun?.state;
  const isRunning = lastRun?.state === 'running';
  const previousState = useRef(state);

  useEffect(() => {
    if (focusErrorsRef.current) focusFirstInvalid(formRef.current);
    focusErrorsRef.current = false;
  }, [form.errors, form.otherErrors]);

  useEffect(() => {
    // The buttons for cancel, approve and deny disappear at the end, together with the focus.
    const hasEnded = state !== undefined && state !== 'waiting' && state !== previousState.current;
    previousState.current = state;
    if (hasEnded && document.activeElement === document.body) runButtonRef.current?.focus();
  }, [state]);

  async function run(): Promise<void> {
    if (isRunning) return;
    focusErrorsRef.current = true;
    const formArgs = form.submit();
    if (!formArgs) return;
    focusErrorsRef.current = false;
    const { serverName, title, authority } = view;
    const endedRun = await runs.start({
      ...{ server: serverName, serverTitle: title, tool: tool.name, toolTitle: tool.title },
      ...{ args: formArgs, authority },
    });
    if (!(endedRun.error instanceof ApiError) || endedRun.error.code !== 'MCP_ARGUMENTS_INVALID') return;
    focusErrorsRef.current = true;
    form.showErrors(endedRun.error.errors);
  }

  function handleSubmit(event: SubmitEvent): void {
    event.preventDefault();
    void run();
  }

  function handleKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void run();
  }

  return (
    <>
      {isLinked && (
        <Notice tone="info" title={words.fromLink}>
          {words.fromLinkText}
        </Notice>
      )}
      <Card aria-label={words.arguments}>
        <form
          ref={formRef}
          className={styles['form']}
          noValidate
          onSubmit={handleSubmit}
          onKeyDown={handleKeyDown}
        >
          <ToolFields form={form} />
          <div className={styles['actions']}>
            {/* Never disabled: a button that is loses the focus. */}
            <Button
              ref={runButtonRef}
              type="submit"
              variant="primary"
              aria-disabled={isRunning}
              aria-busy={isRunning}
              icon={isRunning ? <Spinner /> : <Icon name="play" size={16} />}
            >
              {words.run}
            </Button>
            {isRunning ? (
              <Button onClick={() => runs.cancel(lastRun.id)}>{words.cancel}</Button>
            ) : (
              <span className={styles['hint']}>{words.runHint}</span>
            )}
            <span className={styles['more']}>
              <CopyButton
                label={words.curl}
                text={() => curlCommand({ origin: location.origin, ...currentCall() })}
              />
              <CopyButton
                label={words.link}
                text={() => location.origin + toolPath(view.serverName, tool.name, form.currentArguments())}
              />
              <Button
                size="small"
                variant="quiet"
                onClick={() => navigate(newBlockPath(view.serverName, tool.name, form.currentArguments()))}
              >
                {strings.blocks.saveAs}
              </Button>
              <Button size="small" variant="quiet" onClick={form.reset}>
                {words.reset}
              </Button>
            </span>
          </div>
        </form>
      </Card>
      {lastRun && <RunView run={lastRun} />}
    </>
  );

  function currentCall() {
    return { server: view.serverName, tool: tool.name, args: form.currentArguments() };
  }
}

export function ToolFields({ form }: { readonly form: ToolForm }) {
  const { panel, form: words } = strings.tools;
  const { otherErrors, json } = form;
  return (
    <>
      {otherErrors.length > 0 && (
        <div tabIndex={-1} data-invalid="">
          <Notice tone="danger" title={panel.invalidTitle}>
            <ul>
              {otherErrors.map((message, index) => (
                <li key={index}>{message}</li>
              ))}
            </ul>
          </Notice>
        </div>
      )}
      {json === undefined ? (
        <SchemaForm form={form.form} draft={form.draft} errors={form.errors} onChange={form.change} />
      ) : (
        <TextArea
          label={words.jsonArguments}
          hint={words.jsonHint}
          error={form.errors.get(pathKey([]))}
          className={styles['json']}
          rows={8}
          spellCheck={false}
          autoComplete="off"
          value={json}
          onChange={(event) => form.changeJson(event.target.value)}
        />
      )}
      <Switch label={words.asJson} isOn={json !== undefined} onChange={form.toggleJson} />
    </>
  );
}
