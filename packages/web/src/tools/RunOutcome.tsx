import { ApiError } from '../api/apiError.ts';
import { explainError } from '../api/explain.ts';
import { isServerError } from '../call/isServerError.ts';
import { ServerPageLink } from '../call/ServerPageLink.tsx';
import { ResultView } from '../result/ResultView.tsx';
import { strings } from '../strings/strings.ts';
import { Notice } from '../ui/Notice.tsx';
import { ApprovalCard } from './ApprovalCard.tsx';
import { HeldRun } from './HeldRun.tsx';
import type { Run } from './run.ts';
import styles from './RunView.module.css';

/** How a run ended, or what it waits for. */
export function RunOutcome({ run }: { readonly run: Run }) {
  const words = strings.tools.run;
  switch (run.state) {
    case 'running':
      return null;
    case 'waiting':
      return <ApprovalCard run={run} />;
    case 'held':
      if (run.connect) return <HeldRun run={run} connect={run.connect} />;
      return <p className={styles['note']}>{strings.blocks.run.heldText}</p>;
    case 'done':
    case 'failed':
      return run.result ? <ResultView result={run.result} /> : null;
    case 'refused':
      return <RunError run={run} />;
    case 'denied':
      return <p className={styles['note']}>{words.denied}</p>;
    case 'cancelled':
      return <p className={styles['note']}>{words.cancelled}</p>;
  }
}

function RunError({ run: { error, server, block } }: { readonly run: Run }) {
  const words = strings.tools.run;
  const code = error instanceof ApiError ? error.code : undefined;
  // Nothing came back: that says nothing about what was sent.
  const lostText = { title: words.lostTitle, text: words.lostText };
  const { changedTitle, changedText } = strings.blocks.run;
  const isChanged = block !== undefined && code === 'VERSION_CONFLICT';
  const changedNotice = { title: changedTitle, text: changedText };
  const { title, text } = code === 'OFFLINE' ? lostText : isChanged ? changedNotice : explainError(error);
  const needsValues = code === 'MCP_USER_VARS_MISSING';
  const errors = error instanceof ApiError ? error.errors : [];
  return (
    <Notice
      tone="danger"
      title={title}
      actions={isServerError(code) ? <ServerPageLink server={server} errorCode={code} /> : undefined}
    >
      <p>{code === 'MCP_ARGUMENTS_INVALID' || code === 'BLOCK_INCOMPLETE' ? words.fixFields : text}</p>
      {needsValues && (
        <ul>
          {errors.map(({ message }, index) => (
            <li key={index}>{message}</li>
          ))}
        </ul>
      )}
    </Notice>
  );
}
