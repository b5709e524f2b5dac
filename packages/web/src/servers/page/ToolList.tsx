import type { ServerToolsView } from '@behalf/contracts';
import { useDeferredValue, useState } from 'react';
import { Link } from 'wouter';
import { escapeInvisible } from '../../ui/escapeInvisible.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { TextField } from '../../ui/Field.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { usePagedItems } from '../../ui/LongList.tsx';
import { parseDiscoveredTools, type ListedTool } from '../state/reinitResult.ts';
import styles from './ToolList.module.css';

/** The search field appears for longer lists. */
const SEARCH_THRESHOLD = 12;
const PAGE_SIZE = 100;

/** The listed tools, or those that a reconnect discovered without authentication. */
export function ToolList({
  server,
  tools,
  error,
  discovered,
  onRetry,
}: {
  readonly server: string;
  readonly tools: ServerToolsView | null | undefined;
  readonly error: unknown;
  readonly discovered: readonly unknown[] | null | undefined;
  readonly onRetry: () => void;
}) {
  const words = strings.servers;
  const listed: readonly ListedTool[] = tools?.tools ?? [];
  const shown = listed.length > 0 ? listed : parseDiscoveredTools(discovered ?? []);
  const isConnected = tools?.state === 'connected';
  return (
    <Card className={styles['card']}>
      <h2>
        {words.toolsTitle} {shown.length > 0 && <span className={styles['count']}>{shown.length}</span>}
      </h2>
      {error !== null && shown.length === 0 && <ErrorNotice error={error} onRetry={onRetry} />}
      {tools === undefined && error === null && <Skeleton lines={4} />}
      {shown.length > 0 && !isConnected && <p className={styles['muted']}>{words.toolsNeedSignIn}</p>}
      {tools?.incomplete && <p className={styles['muted']}>{words.toolsIncomplete}</p>}
      {tools && shown.length === 0 && (
        <p className={styles['muted']}>{isConnected ? words.noTools : words.toolsOnceConnected}</p>
      )}
      {shown.length > 0 && <SearchableTools server={server} tools={shown} />}
    </Card>
  );
}

function SearchableTools({
  server,
  tools,
}: {
  readonly server: string;
  readonly tools: readonly ListedTool[];
}) {
  const words = strings.servers;
  const [search, setSearch] = useState('');
  const query = useDeferredValue(search.trim().toLowerCase());
  const matches = tools.filter(({ name, title = '', description }) =>
    `${name} ${title} ${description}`.toLowerCase().includes(query),
  );
  const { shown, nextCount, showMore } = usePagedItems(matches, PAGE_SIZE);
  return (
    <>
      {tools.length > SEARCH_THRESHOLD && (
        <TextField
          type="search"
          label={words.toolsSearch}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      )}
      {matches.length === 0 && <p className={styles['muted']}>{strings.common.noMatches}</p>}
      <ul className={styles['tools']}>
        {shown.map(({ name, title, description, asksFirst: needsApproval }) => (
          <li key={name} className={styles['tool']}>
            <p className={styles['name']}>
              <Link href={`/tools/${encodeURIComponent(server)}/${encodeURIComponent(name)}`}>
                {title === undefined ? <code>{name}</code> : <bdi>{escapeInvisible(title)}</bdi>}
              </Link>
              {title !== undefined && title !== name && <code className={styles['muted']}>{name}</code>}
              {needsApproval && <Badge tone="info">{words.needsApproval}</Badge>}
            </p>
            {description !== '' && <p className={styles['description']}>{description}</p>}
          </li>
        ))}
      </ul>
      {nextCount > 0 && (
        <Button onClick={showMore} className={styles['more']}>
          {words.showMore(nextCount)}
        </Button>
      )}
    </>
  );
}
