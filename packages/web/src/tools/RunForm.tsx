import {
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  type SubmitEvent,
  useEffect,
  useRef,
  useState,
} from 'react';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Card } from '../ui/Card.tsx';
import { Icon } from '../ui/Icon.tsx';
import { Notice } from '../ui/Notice.tsx';
import { focusFirstInvalid } from '../ui/focus.ts';
import styles from './RunForm.module.css';
import { runs } from './pageRuns.ts';
import type { Run } from './runs.ts';

/** Result of an attempt to start a run. `invalid`: the user has to correct the input. */
export type StartResult = 'invalid' | 'started';

/**
 * The input of a tool or block, with the buttons to run and to cancel. Ctrl+Enter and Cmd+Enter run it from any
 * field. After an attempt with invalid input, the first invalid field receives the focus.
 */
export function RunForm({
  label,
  runLabel,
  isLinked,
  lastRun,
  start,
  runButtonRef,
  idleHint,
  moreActions,
  children,
}: {
  readonly label: string;
  readonly runLabel: string;
  /** True if a link provided the input. The form asks the user to check it. */
  readonly isLinked: boolean;
  /** The last run of this tool or block. */
  readonly lastRun: Run | undefined;
  /** Runs the tool or block. Is not called while a run is in progress. */
  readonly start: () => Promise<StartResult>;
  readonly runButtonRef: Ref<HTMLButtonElement>;
  /** Takes the place of the cancel button while nothing runs. */
  readonly idleHint?: ReactNode;
  readonly moreActions: ReactNode;
  /** The fields. */
  readonly children: ReactNode;
}) {
  const { panel } = strings.tools;
  const formRef = useRef<HTMLFormElement>(null);
  const [invalidCount, setInvalidCount] = useState(0);
  const isRunning = lastRun?.state === 'running';

  useEffect(() => {
    if (invalidCount > 0) focusFirstInvalid(formRef.current);
  }, [invalidCount]);

  async function run(): Promise<void> {
    if (isRunning) return;
    if ((await start()) === 'invalid') setInvalidCount((count) => count + 1);
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
        <Notice tone="info" title={panel.fromLink}>
          {panel.fromLinkText}
        </Notice>
      )}
      <Card aria-label={label}>
        <form
          ref={formRef}
          className={styles['form']}
          noValidate
          onSubmit={handleSubmit}
          onKeyDown={handleKeyDown}
        >
          {children}
          <div className={styles['actions']}>
            <Button
              ref={runButtonRef}
              type="submit"
              variant="primary"
              isBusy={isRunning}
              icon={<Icon name="play" size={16} />}
            >
              {runLabel}
            </Button>
            {isRunning ? <Button onClick={() => runs.cancel(lastRun.id)}>{panel.cancel}</Button> : idleHint}
            {moreActions}
          </div>
        </form>
      </Card>
    </>
  );
}
