import { memo } from 'react';
import { Link } from 'wouter';
import { ConnectButtons } from '../../connect/ConnectButtons.tsx';
import { describeConnectState } from '../../connect/connectState.ts';
import { useConnect } from '../../connect/pageConnectControllers.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { type ListedServer, serverTitle } from '../state/filterServers.ts';
import {
  needsAttention,
  stateDescription,
  stateLabel,
  stateProblem,
  stateTones,
} from '../state/serverState.ts';
import styles from './ServerCard.module.css';

/** One server in the list. Memoized, so that typing a search does not render it again. */
export const ServerCard = memo(function ServerCard({ server }: { readonly server: ListedServer }) {
  const words = strings.servers;
  const { name, view, state, origin } = server;
  const title = serverTitle(server);
  const problem = stateProblem(state);
  return (
    <li className={styles['card']}>
      <div className={styles['head']}>
        <div className={styles['names']}>
          <h2>
            <Link href={`/servers/${encodeURIComponent(name)}`} className={styles['title']}>
              {title}
            </Link>
          </h2>
          {name !== title && <code className={styles['name']}>{name}</code>}
        </div>
        <Badge tone={stateTones[state.kind]}>{stateLabel(state)}</Badge>
      </div>
      {view.description !== undefined && <p className={styles['description']}>{view.description}</p>}
      {needsAttention(state) && (
        <p className={styles['problem']}>
          <Icon name="warning" size={16} />
          <span>
            {problem
              ? words.problemAndAdvice(problem.title, problem.advice)
              : stateDescription(state, !view.obo)}
          </span>
        </p>
      )}
      {canConnect(server) && <CardConnect server={name} title={title} />}
      <p className={styles['facts']}>
        <Badge>{words.origins[origin]}</Badge>
        {state.kind !== 'not_shared' && <span>{toolsText(server)}</span>}
        {view.obo && <span>{words.oboTitle}</span>}
      </p>
    </li>
  );
});

function toolsText({ tools, state }: ListedServer): string {
  const words = strings.servers;
  if (tools !== undefined) return words.tools(tools);
  return state.kind === 'connected' ? words.toolsLoading : words.toolsUnknown;
}

/** Whether the user signs in at the server itself, and not at the organization's identity provider. */
function canConnect({ view, state: { kind } }: ListedServer): boolean {
  return !view.obo && (kind === 'needs_sign_in' || kind === 'signing_in');
}

/** Sign-in without leaving the list. */
function CardConnect({ server, title }: { readonly server: string; readonly title: string }) {
  const connect = useConnect(server);
  const text = describeConnectState(connect.state);
  return (
    <div className={styles['connect']}>
      {text && (
        <Notice tone={text.tone} title={text.title}>
          {text.text}
        </Notice>
      )}
      <div>
        <ConnectButtons connect={connect} label={strings.connect.connectTo(title)} />
      </div>
    </div>
  );
}
