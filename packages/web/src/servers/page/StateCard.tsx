import type { ReinitializeView, ServerView } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useSearch } from 'wouter';
import { invalidateServers, reinitializeServer } from '../../api/servers.ts';
import { ConnectButtons, ConnectStatus } from '../../connect/ConnectButtons.tsx';
import { useConnect } from '../../connect/pageConnectControllers.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { type ReinitText, describeReinit } from '../state/reinitResult.ts';
import {
  type ServerState,
  needsAttention,
  stateDescription,
  stateProblem,
  stateTones,
} from '../state/serverState.ts';
import { OrganizationSignIn } from './OboCard.tsx';
import styles from './StateCard.module.css';

/** The state of a server, its cause and the next action, and a button to reconnect. */
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
  // Avoids repeating the hint to sign in here after the user followed it.
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

interface Reinitialization {
  readonly isBusy: boolean;
  /** For the shown version of the definition only. */
  readonly outcome: ReinitializeView | undefined;
  readonly error: unknown;
  /** Whether the server was unreachable before the attempt. */
  readonly wasUnreachable: boolean;
  readonly run: (wasUnreachable: boolean) => void;
  /** Called when a change makes the result outdated. */
  readonly clear: () => void;
}

/** Reconnects the server. Afterwards all data about it may be outdated. */
export function useReinitialize(name: string, version: number | undefined): Reinitialization {
  const queryClient = useQueryClient();
  const { mutate, reset, isPending, data, error, variables } = useMutation({
    mutationFn: (_variables: { readonly version: number | undefined; readonly wasUnreachable: boolean }) =>
      reinitializeServer(name),
    onSettled: () => invalidateServers(queryClient),
  });
  const isCurrent = variables?.version === version;
  return {
    isBusy: isPending,
    outcome: isCurrent ? data : undefined,
    error: isCurrent ? error : null,
    wasUnreachable: variables?.wasUnreachable ?? false,
    run: (wasUnreachable) => mutate({ version, wasUnreachable }),
    clear: reset,
  };
}
