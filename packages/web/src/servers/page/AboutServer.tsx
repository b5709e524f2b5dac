import type { Authority, ServerView } from '@behalf/contracts';
import { Link } from 'wouter';
import { formatDateTime } from '../../ui/format.ts';
import { strings } from '../../strings/strings.ts';
import { Card } from '../../ui/Card.tsx';
import { Notice } from '../../ui/Notice.tsx';
import type { Origin } from '../state/serverState.ts';
import styles from './AboutServer.module.css';

/** The definition of a server, and where it can be changed. */
export function AboutServer({
  name,
  view,
  origin,
  authority,
  isOperator,
}: {
  readonly name: string;
  readonly view: ServerView;
  readonly origin: Origin;
  readonly authority: Authority | undefined;
  readonly isOperator: boolean;
}) {
  const words = strings.servers;
  const { facts } = words;
  const transports: Readonly<Record<string, string>> = words.form.transports;
  return (
    <Card className={styles['card']}>
      <h2>{words.aboutTitle}</h2>
      <dl className={styles['facts']}>
        <dt>{facts.name}</dt>
        <dd>
          <code>{name}</code>
        </dd>
        <dt>{facts.origin}</dt>
        <dd>{words.origins[origin]}</dd>
        <dt>{facts.transport}</dt>
        <dd>{transports[view.type] ?? view.type}</dd>
        {view.url !== undefined && (
          <>
            <dt>{facts.url}</dt>
            <dd>
              <code>{view.url}</code>
            </dd>
          </>
        )}
        {authority && (
          <>
            <dt>{facts.authority}</dt>
            <dd>{words.authorities[authority.kind]}</dd>
            <dt>{facts.connection}</dt>
            <dd>{authority.shared ? words.connectionShared : words.connectionPerUser}</dd>
          </>
        )}
        {view.updatedAt !== undefined && (
          <>
            <dt>{facts.changed}</dt>
            <dd>{formatDateTime(view.updatedAt)}</dd>
          </>
        )}
      </dl>
      {view.source !== 'user' && (
        <Notice
          tone="neutral"
          title={words.configurationTitle}
          actions={isOperator && <Link href="/admin/config">{words.openConfiguration}</Link>}
        >
          {view.source === 'config' ? words.overrideText : words.configurationText}
        </Notice>
      )}
    </Card>
  );
}
