import type { ServerView } from '@behalf/contracts';
import { useSearch } from 'wouter';
import { ConnectButtons } from '../../connect/ConnectButtons.tsx';
import { ConnectStatus } from '../../connect/ConnectStatus.tsx';
import { useConnect } from '../../connect/useConnect.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { describeReinit, type ReinitText } from '../state/reinitText.ts';
import { needsAttention, type ServerState } from '../state/serverState.ts';
import { stateProblem, stateDescription, stateTones } from '../state/stateText.ts';
import { OrganizationSignIn } from './OrganizationSignIn.tsx';
import styles from './StateCard.module.css';
import type { Reinitialization } from './useReinitialize.ts';

/** How it stands, why, what to do, and the button that tries it anew with what came of it. */
export function StateCard({
  name,
  view,
  state,
  isSignInThere,
  reinit,
}: {
  readonly name: string;
  readonly view: ServerView;
  readonly state: ServerState;
  readonly isSignInThere: boolean;
  readonly reinit: Reinitialization;
}) {
  const words = strings.servers;
  const problem = needsAttention(state) ? stateProblem(state) : undefined;
  const isUsable = state.kind !== 'not_shared';
  const outcome =
    reinit.outcome &&
    describeReinit(reinit.outcome, {
      wasUnreachable: reinit.wasUnreachable,
      labelOf: (variable) => view.customUserVars?.[variable]?.title ?? variable,
    });
  // Whoever was sent here for it is not sent on with the same words once they come back.
  const isSignInRequested = new URLSearchParams(useSearch()).get('signIn') === 'here';
  const needsSignIn = (state.kind === 'needs_sign_in' && !isSignInThere) || outcome?.signIn === 'here';
  const isUnreachable = state.kind === 'unreachable' || state.kind === 'paused';
  return (
    <Card className={styles['card']}>
      <div className={styles['state']}>
        <div className={styles['words']} role="status">
          <Badge tone={stateTones[state.kind]}>{words.states[state.kind]}</Badge>
          <p>{stateDescription(state, isSignInThere)}</p>
        </div>
        {isUsable && (
          <Button
            icon={<Icon name="refresh" />}
            isBusy={reinit.isBusy}
            onClick={() => reinit.run(isUnreachable)}
          >
            {reinit.isBusy ? words.reinitializing : words.reinitialize}
          </Button>
        )}
      </div>
      {problem && (
        <dl className={styles['problem']}>
          <dt>{words.lastError}</dt>
          <dd>{problem.title}</dd>
          <dt>{words.whatToDo}</dt>
          <dd>{problem.advice}</dd>
        </dl>
      )}
      <Outcome server={name} outcome={outcome} reinit={reinit} />
      {(needsSignIn || isSignInRequested) && (
        <OrganizationSignIn back={isSignInRequested ? location.pathname : undefined} />
      )}
    </Card>
  );
}

function Outcome({
  server,
  outcome,
  reinit: { error, isBusy },
}: {
  readonly server: string;
  readonly outcome: ReinitText | undefined;
  readonly reinit: Reinitialization;
}) {
  const connect = useConnect(server);
  if (isBusy) return null;
  if (error !== null) return <ErrorNotice error={error} />;
  if (!outcome) return null;
  return (
    <Notice
      tone={outcome.tone}
      title={outcome.title}
      actions={outcome.signIn === 'there' ? <ConnectButtons connect={connect} /> : undefined}
    >
      {outcome.text}
      {outcome.signIn === 'there' && <ConnectStatus connect={connect} />}
    </Notice>
  );
}
