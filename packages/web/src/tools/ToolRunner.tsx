import type { ServerToolsView, ToolDetail } from '@behalf/contracts';
import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { ApiError } from '../api/request.ts';
import { useStore } from '../app/store.ts';
import type { JsonRecord } from '../result/json.ts';
import { pathKey } from '../schemaForm/fieldPath.ts';
import { SchemaForm } from '../schemaForm/SchemaForm.tsx';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { CopyButton } from '../ui/CopyButton.tsx';
import { Switch, TextArea } from '../ui/Field.tsx';
import { Notice } from '../ui/Notice.tsx';
import { curlCommand, newBlockPath, toolPath } from './toolLinks.ts';
import { runs } from './pageRuns.ts';
import { RunForm, type StartResult } from './RunForm.tsx';
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
  const { serverName, title, authority } = view;
  const form = useToolForm(tool.inputSchema, args);
  const runButtonRef = useRef<HTMLButtonElement>(null);
  const lastRun = useStore(runs.list).find(
    (run) => !run.block && run.server === serverName && run.tool === tool.name,
  );
  const state = lastRun?.state;
  const previousState = useRef(state);

  useEffect(() => {
    // The buttons for cancel, approve and deny disappear at the end, together with the focus.
    const hasEnded = state !== undefined && state !== 'waiting' && state !== previousState.current;
    previousState.current = state;
    if (hasEnded && document.activeElement === document.body) runButtonRef.current?.focus();
  }, [state]);

  async function start(): Promise<StartResult> {
    const formArgs = form.submit();
    if (!formArgs) return 'invalid';
    const { error } = await runs.start({
      server: serverName,
      serverTitle: title,
      tool: tool.name,
      toolTitle: tool.title,
      args: formArgs,
      authority,
    });
    if (!(error instanceof ApiError) || error.code !== 'MCP_ARGUMENTS_INVALID') return 'started';
    form.showErrors(error.errors);
    return 'invalid';
  }

  return (
    <>
      <RunForm
        label={words.arguments}
        runLabel={words.run}
        isLinked={isLinked}
        lastRun={lastRun}
        start={start}
        runButtonRef={runButtonRef}
        idleHint={<span className={styles['hint']}>{words.runHint}</span>}
        moreActions={
          <span className={styles['more']}>
            <CopyButton
              label={words.curl}
              text={() =>
                curlCommand({
                  origin: location.origin,
                  server: serverName,
                  tool: tool.name,
                  args: form.currentArguments(),
                })
              }
            />
            <CopyButton
              label={words.link}
              text={() => location.origin + toolPath(serverName, tool.name, form.currentArguments())}
            />
            <Button
              size="small"
              variant="quiet"
              onClick={() => navigate(newBlockPath(serverName, tool.name, form.currentArguments()))}
            >
              {strings.blocks.saveAs}
            </Button>
            <Button size="small" variant="quiet" onClick={form.reset}>
              {words.reset}
            </Button>
          </span>
        }
      >
        <ToolFields form={form} />
      </RunForm>
      {lastRun && <RunView run={lastRun} />}
    </>
  );
}

/** The fields of a tool, or its arguments as JSON. */
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
