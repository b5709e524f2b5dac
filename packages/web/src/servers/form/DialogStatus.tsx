import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import styles from './ServerDialog.module.css';
import type { ServerDialogState } from './useServerDialog.ts';

/** What came of a test or of saving, where it is seen however far the form is scrolled. */
export function DialogStatus({ state }: { readonly state: ServerDialogState }) {
  const content = statusContent(state);
  return content && <div className={styles['status']}>{content}</div>;
}

function statusContent(state: ServerDialogState) {
  const words = strings.servers.form;
  const { error, otherProblems, problems, checkResult, hasConflict } = state;
  if (state.reloadError !== null) return <ErrorNotice error={state.reloadError} onRetry={state.reload} />;
  if (hasConflict) {
    return (
      <Notice
        tone="warning"
        title={words.conflictTitle}
        actions={
          <Button size="small" isBusy={state.isReloading} onClick={state.reload}>
            {words.conflictReload}
          </Button>
        }
      >
        {words.conflictText}
      </Notice>
    );
  }
  if (otherProblems.length > 0 || Object.keys(problems).length > 0) {
    const hasFields = Object.keys(problems).length > 0;
    return (
      <Notice tone="danger" title={hasFields ? words.invalidFieldsTitle : words.invalidTitle}>
        {otherProblems.length > 0 && (
          <ul>
            {otherProblems.map((other) => (
              <li key={other}>{other}</li>
            ))}
          </ul>
        )}
      </Notice>
    );
  }
  if (error !== null) return <ErrorNotice error={error} />;
  if (!checkResult) return null;
  return checkResult.inspected ? (
    <Notice tone="success" title={words.connected}>
      {words.toolsFound(checkResult.tools ?? 0)}
    </Notice>
  ) : (
    <Notice tone="info" title={words.notInspected}>
      {words.notInspectedText}
    </Notice>
  );
}
