import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { encodeSegment } from '../api/request.ts';
import { setsQuery } from '../api/sets.ts';
import { useUser } from '../api/user.ts';
import { formatAgo } from '../ui/format.ts';
import card from '../servers/list/ServerCard.module.css';
import list from '../servers/ServersPage.module.css';
import { strings } from '../strings/strings.ts';
import { Badge } from '../ui/Badge.tsx';
import buttons from '../ui/Button.module.css';
import { classNames } from '../ui/classNames.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { Icon } from '../ui/Icon.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';

/** The sets that the user may run. */
export function SetsPage() {
  const words = strings.sets;
  const user = useUser();
  const { data: sets, error, refetch } = useQuery(setsQuery);
  const sorted = [...(sets ?? [])].sort((a, b) => a.title.localeCompare(b.title) || (a.id < b.id ? -1 : 1));
  return (
    <Page
      title={words.title}
      lead={words.lead}
      actions={
        <>
          <Link href="/blocks" className={classNames(buttons['button'], buttons['quiet'])}>
            {words.toBlocks}
          </Link>
          <Link href="/sets/new" className={classNames(buttons['button'], buttons['primary'])}>
            <Icon name="plus" />
            {words.add}
          </Link>
        </>
      }
    >
      {!sets && error === null && <Skeleton lines={6} />}
      {!sets && error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {sets?.length === 0 && (
        <EmptyState icon="block" title={words.noneTitle} actions={<Link href="/sets/new">{words.add}</Link>}>
          {words.noneText}
        </EmptyState>
      )}
      {sorted.length > 0 && (
        <ul className={list['list']}>
          {sorted.map(({ id, title, description, steps, owner, updatedAt }) => (
            <li key={id} className={card['card']}>
              <h2 className={card['names']}>
                <Link href={`/sets/${encodeSegment(id)}`} className={card['title']}>
                  {title}
                </Link>
              </h2>
              {description !== undefined && <p className={card['description']}>{description}</p>}
              <p className={card['facts']}>
                <Badge>{owner === user?.id ? strings.blocks.owned : strings.blocks.shared}</Badge>
                <span>{words.steps(steps.length)}</span>
                <span>{strings.blocks.changed(formatAgo(updatedAt))}</span>
              </p>
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}
