import type { ConnectNeeded } from '@behalf/contracts';
import { useState } from 'react';
import { explainError } from '../api/explain.ts';
import { ApiError } from '../api/request.ts';
import { ApprovalRequest } from '../call/ApprovalRequest.tsx';
import { ConnectCard } from '../call/ConnectCard.tsx';
import { ProgressView } from '../call/ProgressView.tsx';
import { ServerPageLink, isServerError } from '../call/ServerPageLink.tsx';
import type { ConnectOptions } from '../connect/connectController.ts';
import { connectControllers } from '../connect/pageConnectControllers.ts';
import { ResultView } from '../result/ResultView.tsx';
import type { JsonRecord } from '../result/json.ts';
import { strings } from '../strings/strings.ts';
import { Badge } from '../ui/Badge.tsx';
import { Button } from '../ui/Button.tsx';
import { Notice } from '../ui/Notice.tsx';
import { formatDuration } from '../ui/format.ts';
import { callTones } from '../ui/stateTones.ts';
import styles from './RunView.module.css';
import { runs } from './pageRuns.ts';
import { type Run, runStateText } from './runs.ts';
import { blockPath, toolPath } from './toolLinks.ts';

/** The last run of a tool: its progress and result. */
export function RunView({ run }: { readonly run: Run }) {
  const words = strings.tools.run;
  const { state, tool, toolTitle, durationMs, progress } = run;
  const isRunning = state === 'running';
  const isPending = isRunning || state === 'waiting' || state === 'held';
  return (
    <section className={styles['run']} aria-label={words.title} aria-busy={isRunning}>
      <div className={styles['head']}>
        <h3>{words.title}</h3>
        <RunBadge run={run} />
        {durationMs !== undefined && !isPending && (
          <span className={styles['duration']}>{formatDuration(durationMs)}</span>
        )}
      </div>
      <p className="visually-hidden" role="status">
        {words.announced(runStateText(run), toolTitle || tool)}
      </p>
      {isRunning && <ProgressView progress={progress ?? {}} />}
      <Logs run={run} />
      <RunOutcome run={run} />
    </section>
  );
}

function Logs({ run: { logs } }: { readonly run: Run }) {
  const words = strings.tools.run;
  if (logs.length === 0) return null;
  return (
    <details className={styles['logs']} open>
      <summary>{words.logs}</summary>
      <ul tabIndex={0} className={styles['lines']} aria-label={words.logs}>
        {logs.map(({ level, text }, index) => (
          <li key={index}>
            <span className={styles['level']}>{level}</span> {text}
          </li>
        ))}
      </ul>
    </details>
  );
}

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
  // Without a response, it is unknown whether the tool ran.
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

/** Asks the user to approve a call. */
function ApprovalCard({ run }: { readonly run: Run }) {
  const { id, tool, toolTitle, server, serverTitle, args, approval, decisionError, isDeciding = false } = run;
  const [decision, setDecision] = useState<'approve' | 'deny'>('approve');
  return (
    <ApprovalRequest
      key={approval?.id}
      {...{ tool, toolTitle, server, serverTitle, args }}
      expiresAt={approval?.expiresAt}
      pendingDecision={isDeciding ? decision : undefined}
      error={decisionError}
      advice={strings.tools.run.requestAgain}
      onDecide={(approve) => {
        setDecision(approve ? 'approve' : 'deny');
        void runs.decide(id, approve);
      }}
    />
  );
}

/** A run that waits for a sign-in. It continues automatically after the sign-in. */
function HeldRun({ run, connect }: { readonly run: Run; readonly connect: ConnectNeeded }) {
  const words = strings.tools.run;
  const { id, server, tool, args, block } = run;
  const formPath = (formArgs?: JsonRecord) =>
    block ? blockPath(block.id, formArgs) : toolPath(server, tool, formArgs);
  async function startConnect(wanted: ConnectOptions): Promise<void> {
    // The sign-in must renew the credential that the run names.
    const label = block?.credential;
    const options = { ...wanted, ...(label !== undefined && { label }) };
    if (await connectControllers.get(server).begin(options)) await runs.resume(id);
  }
  return (
    <ConnectCard
      connect={connect}
      returnTo={formPath()}
      nextStepText={words.afterSignIn}
      onStart={startConnect}
      // Fills in the form again after the user returns.
      onBeforeLeave={() => history.replaceState(null, '', formPath(block?.inputs ?? args))}
    >
      {(isConnected) =>
        isConnected && (
          <Button size="small" variant="primary" onClick={() => void runs.resume(id)}>
            {words.resume}
          </Button>
        )
      }
    </ConnectCard>
  );
}

export function RunBadge({ run }: { readonly run: Run }) {
  return <Badge tone={callTones[run.state]}>{runStateText(run)}</Badge>;
}
