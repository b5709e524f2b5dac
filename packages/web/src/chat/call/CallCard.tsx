import type { ChatCall, ChatProblem } from '@behalf/contracts';
import { useMutation } from '@tanstack/react-query';
import { memo } from 'react';
import { decideApproval, reportConnected } from '../../api/chat.ts';
import { useStore } from '../../app/store.ts';
import { ApprovalRequest } from '../../call/ApprovalRequest.tsx';
import { ConnectCard } from '../../call/ConnectCard.tsx';
import { ProgressView } from '../../call/ProgressView.tsx';
import { ServerPageLink, isServerError } from '../../call/ServerPageLink.tsx';
import type { ConnectOptions } from '../../connect/connectController.ts';
import { connectControllers } from '../../connect/pageConnectControllers.ts';
import { AuthorityBadge } from '../../result/AuthorityBadge.tsx';
import { ArgumentsView, ResultView } from '../../result/ResultView.tsx';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { TitleOrId } from '../../ui/Identity.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Spinner } from '../../ui/Spinner.tsx';
import { showError } from '../../ui/Toasts.tsx';
import { escapeInvisible } from '../../ui/escapeInvisible.ts';
import { formatDuration } from '../../ui/format.ts';
import { callTones } from '../../ui/stateTones.ts';
import { useConversationActions } from '../conversationActions.ts';
import { describeProblem } from '../errors/describeProblem.ts';
import { countRender } from '../message/countRender.ts';
import { applyDecision } from '../session/applyEvent.ts';
import type { CallPartState } from '../session/messages.ts';
import styles from './CallCard.module.css';
import { displayedState, summarizeArguments } from './callSummary.ts';

/** Card of a tool call: tool, arguments, state, authority and result. */
export const CallCard = memo(function CallCard({
  part,
  isLive,
  isLast,
}: {
  readonly part: CallPartState;
  /** Whether the answer of this call is still running. */
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
      {/* The result of a call that requires a sign-in is written for the model, so it is hidden. */}
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

/** Checks whether the gateway dropped the result to keep the stored answer within its limit. */
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

/** Approval request of a call in a conversation. */
export function CallApproval({
  part,
  expiresAt,
}: {
  readonly part: CallPartState;
  readonly expiresAt: number | undefined;
}) {
  const { session, focusComposer } = useConversationActions();
  const { callId, tool, toolTitle, server, serverTitle, arguments: args } = part.state.get().call;
  const decideMutation = useMutation({
    mutationFn: (approve: boolean) => decideApproval(session.id.get() ?? '', callId, approve),
    onSuccess(_view, approve) {
      part.state.set(applyDecision(part.state.get(), approve));
      focusComposer();
    },
  });
  return (
    <ApprovalRequest
      {...{ tool, toolTitle, server, serverTitle, args, expiresAt }}
      pendingDecision={decideMutation.isPending ? (decideMutation.variables ? 'approve' : 'deny') : undefined}
      error={decideMutation.error}
      keepsTypingFocus
      onDecide={decideMutation.mutate}
    />
  );
}

/** Sign-in that a call requires, and how the conversation continues. */
export function CallConnect({
  part,
  isHeld,
  isLast,
}: {
  readonly part: CallPartState;
  /** Whether the answer waits for the sign-in. */
  readonly isHeld: boolean;
  readonly isLast: boolean;
}) {
  const words = strings.chat.connect;
  const { session, resend, focusComposer } = useConversationActions();
  const { callId, connect } = useStore(part.state).call;
  const { answering } = useStore(session.state);
  const id = useStore(session.id);
  const reportMutation = useMutation({
    mutationFn: (connected: boolean) => reportConnected(id ?? '', callId, connected),
    onSuccess: focusComposer,
    onError: showError,
  });
  if (!connect) return null;

  async function startConnect(server: string, options: ConnectOptions): Promise<void> {
    // The session of the waiting answer is notified, even if the sign-in started elsewhere.
    if (await connectControllers.get(server).begin(options)) focusComposer();
  }
  return (
    <ConnectCard
      connect={connect}
      returnTo={id === undefined ? '/chat' : `/chat/${encodeURIComponent(id)}`}
      nextStepText={isHeld ? words.answerContinues : words.thenTryAgain}
      onStart={(options) => startConnect(connect.server, options)}
    >
      {(isConnected) =>
        isHeld ? (
          <Button
            size="small"
            isBusy={reportMutation.isPending}
            onClick={() => reportMutation.mutate(isConnected)}
          >
            {isConnected ? words.resume : words.continueWithout}
          </Button>
        ) : (
          isLast &&
          answering === 'no' && (
            <Button size="small" variant={isConnected ? 'primary' : 'plain'} onClick={resend}>
              {words.tryAgain}
            </Button>
          )
        )
      }
    </ConnectCard>
  );
}

/** Error of a call with advice. */
export function CallProblem({
  problem,
  server,
}: {
  readonly problem: ChatProblem;
  /** Name of the called server. */
  readonly server: string;
}) {
  const { code, title, errors = [] } = problem;
  const { text, advice } = describeProblem(problem);
  return (
    <Notice
      tone="danger"
      // Silent, so that screen readers do not announce old errors when the conversation opens.
      isSilent
      title={title}
      actions={isServerError(code) ? <ServerPageLink server={server} errorCode={code} /> : undefined}
    >
      <p>{text}</p>
      {errors.length > 0 && (
        <ul>
          {errors.map(({ path, message }, index) => (
            <li key={index}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {advice !== '' && (
        <p>
          {strings.chat.call.whatToDo} {advice}
        </p>
      )}
    </Notice>
  );
}
