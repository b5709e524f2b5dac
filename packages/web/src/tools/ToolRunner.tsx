import type { ServerToolsView, ToolDetail } from '@behalf/contracts';
import { useEffect, useRef, type KeyboardEvent, type SubmitEvent } from 'react';
import { useLocation } from 'wouter';
import { ApiError } from '../api/apiError.ts';
import { useStore } from '../app/store.ts';
import type { JsonRecord } from '../result/isRecord.ts';
import { pathKey } from '../schemaForm/fieldPath.ts';
import { focusFirstInvalid } from '../schemaForm/focusFirstControl.ts';
import { SchemaForm } from '../schemaForm/SchemaForm.tsx';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Card } from '../ui/Card.tsx';
import { CopyButton } from '../ui/CopyButton.tsx';
import { Switch, TextArea } from '../ui/Field.tsx';
import { Icon } from '../ui/Icon.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Spinner } from '../ui/Spinner.tsx';
import { curlCommand } from './curlCommand.ts';
import { runs } from './pageRuns.ts';
import { RunView } from './RunView.tsx';
import { newBlockAddress, toolAddress } from './toolAddress.ts';
import styles from './ToolRunner.module.css';
import { useToolForm, type ToolForm } from './useToolForm.ts';

/** The form of a tool, and what came of its last run. */
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
  const element = useRef<HTMLFormElement>(null);
  const runButton = useRef<HTMLButtonElement>(null);
  const showsErrors = useRef(false);
  const last = useStore(runs.list).find(
    (run) => !run.block && run.server === view.serverName && run.tool === tool.name,
  );
  const state = last?.state;
  const isRunning = last?.state === 'running';
  const stateBefore = useRef(state);

  useEffect(() => {
    if (showsErrors.current) focusFirstInvalid(element.current);
    showsErrors.current = false;
  }, [form.errors, form.others]);

  useEffect(() => {
    // What cancels, approves or denies is gone when there is nothing left to decide, and the focus with it.
    const isOver = state !== undefined && state !== 'waiting' && state !== stateBefore.current;
    stateBefore.current = state;
    if (isOver && document.activeElement === document.body) runButton.current?.focus();
  }, [state]);

  async function run(): Promise<void> {
    if (isRunning) return;
    showsErrors.current = true;
    const given = form.submit();
    if (!given) return;
    showsErrors.current = false;
    const { serverName, title, authority } = view;
    const ended = await runs.start({
      ...{ server: serverName, serverTitle: title, tool: tool.name, toolTitle: tool.title },
      ...{ args: given, authority },
    });
    if (!(ended.error instanceof ApiError) || ended.error.code !== 'MCP_ARGUMENTS_INVALID') return;
    showsErrors.current = true;
    form.refuse(ended.error.errors);
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
        <Notice tone="info" title={words.fromLink}>
          {words.fromLinkText}
        </Notice>
      )}
      <Card aria-label={words.arguments}>
        <form ref={element} className={styles['form']} noValidate onSubmit={onSubmit} onKeyDown={onKeyDown}>
          <ToolFields form={form} />
          <div className={styles['actions']}>
            {/* Never disabled: a button that is loses the focus. */}
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
            {isRunning ? (
              <Button onClick={() => runs.cancel(last.id)}>{words.cancel}</Button>
            ) : (
              <span className={styles['hint']}>{words.runHint}</span>
            )}
            <span className={styles['more']}>
              <CopyButton
                label={words.curl}
                text={() => curlCommand({ origin: location.origin, ...callOf() })}
              />
              <CopyButton
                label={words.link}
                text={() => location.origin + toolAddress(view.serverName, tool.name, form.peek())}
              />
              <Button
                size="small"
                variant="quiet"
                onClick={() => navigate(newBlockAddress(view.serverName, tool.name, form.peek()))}
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
      {last && <RunView run={last} />}
    </>
  );

  function callOf() {
    return { server: view.serverName, tool: tool.name, args: form.peek() };
  }
}

export function ToolFields({ form }: { readonly form: ToolForm }) {
  const { panel, form: words } = strings.tools;
  const { others, json } = form;
  return (
    <>
      {others.length > 0 && (
        <div tabIndex={-1} data-invalid="">
          <Notice tone="danger" title={panel.othersTitle}>
            <ul>
              {others.map((message, index) => (
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
