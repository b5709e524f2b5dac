import type { ChatCall } from '@behalf/contracts';
import { memo } from 'react';
import { useStore } from '../../app/store.ts';
import { callTones } from '../../call/callTones.ts';
import { ProgressView } from '../../call/ProgressView.tsx';
import { TitleOrId } from '../../call/TitleOrId.tsx';
import { escapeInvisible } from '../../call/escapeInvisible.ts';
import { formatDuration } from '../../hooks/formatTime.ts';
import { ArgumentsView } from '../../result/ArgumentsView.tsx';
import { AuthorityBadge } from '../../result/AuthorityBadge.tsx';
import { ResultView } from '../../result/ResultView.tsx';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { Spinner } from '../../ui/Spinner.tsx';
import { countRender } from '../message/countRender.ts';
import type { CallPartState } from '../session/messages.ts';
import { CallApproval } from './CallApproval.tsx';
import styles from './CallCard.module.css';
import { CallProblem } from './CallProblem.tsx';
import { CallConnect } from './CallConnect.tsx';
import { displayedState } from './displayedState.ts';
import { summarizeArguments } from './summarizeArguments.ts';

/** A call of a tool: what, with what, how it goes, on whose authority, and what came of it. */
export const CallCard = memo(function CallCard({
  part,
  isLive,
  isLast,
}: {
  readonly part: CallPartState;
  /** Whether the answer it belongs to is being written. */
  readonly isLive: boolean;
  readonly isLast: boolean;
}) {
  const words = strings.chat.call;
  countRender(part.id, 'call');
  const { call, progress, expiresAt } = useStore(part.state);
  const state = displayedState(call.state, isLive);
  const { server, serverTitle, tool, toolTitle, durationMs, authority, connect, problem } = call;
  return (
    <article
      className={styles['card']}
      aria-label={words.label(escapeInvisible(serverTitle), escapeInvisible(toolTitle || tool))}
    >
      <header className={styles['header']}>
        <p className={styles['name']}>
          <Icon name="tools" size={16} />
          <TitleOrId name={server} title={serverTitle} className={styles['server']} />
          <TitleOrId name={tool} title={toolTitle} className={styles['tool']} />
        </p>
        <p className={styles['state']}>
          {state === 'running' && <Spinner />}
          <Badge tone={callTones[state]}>{words.states[state]}</Badge>
          {durationMs !== undefined && <span className={styles['took']}>{formatDuration(durationMs)}</span>}
        </p>
      </header>
      {authority && <AuthorityBadge authority={authority} />}
      {state === 'waiting' && !connect ? (
        <CallApproval part={part} expiresAt={expiresAt} />
      ) : (
        <CallArguments args={call.arguments} />
      )}
      {state === 'running' && progress && <ProgressView progress={progress} />}
      {connect && <CallConnect part={part} isHeld={state === 'waiting'} isLast={isLast} />}
      {problem && !connect && <CallProblem problem={problem} server={server} />}
      {state === 'cancelled' && !connect && <p className={styles['note']}>{words.unknownOutcome}</p>}
      {state === 'denied' && !problem && <p className={styles['note']}>{words.denied}</p>}
      {/* What a server says of a missing sign-in is written for the model. */}
      {call.result && !connect && <CallResult call={call} />}
      {isResultDiscarded(call) && <p className={styles['note']}>{words.resultDiscarded}</p>}
    </article>
  );
});

function CallArguments({ args }: { readonly args: ChatCall['arguments'] }) {
  const words = strings.chat.call;
  const summary = summarizeArguments(args);
  if (summary === '') return <p className={styles['note']}>{words.noArguments}</p>;
  return (
    <details className={styles['details']}>
      <summary>
        <span className={styles['label']}>{words.arguments}</span>{' '}
        <code className={styles['summary']}>{summary}</code>
      </summary>
      <ArgumentsView args={args} />
    </details>
  );
}

/** Given up for what else is kept of the answer. */
function isResultDiscarded({ state, result, isCut, problem }: ChatCall): boolean {
  return (state === 'done' || state === 'failed') && !result && !problem && isCut === true;
}

function CallResult({ call }: { readonly call: ChatCall }) {
  return (
    <details className={styles['details']} open>
      <summary>
        <span className={styles['label']}>{strings.chat.call.result}</span>
      </summary>
      {call.result && <ResultView result={call.result} truncation={call} />}
    </details>
  );
}
