import type { ServerToolsView } from '@behalf/contracts';
import { useDeferredValue, useState } from 'react';
import { Link } from 'wouter';
import { visibleText } from '../../call/visibleText.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { TextField } from '../../ui/Field.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { useFirst } from '../useFirst.ts';
import { readFound, type ShownTool } from './foundTools.ts';
import styles from './ToolList.module.css';

/** As many as fit without searching. */
const MANY = 12;
const STEP = 100;

/** What it offers: as it was listed, or what a reinit found before anybody could sign in. */
export function ToolList({
  server,
  tools,
  error,
  found,
  onRetry,
}: {
  readonly server: string;
  readonly tools: ServerToolsView | null | undefined;
  readonly error: unknown;
  readonly found: readonly unknown[] | null | undefined;
  readonly onRetry: () => void;
}) {
  const text = strings.servers;
  const listed: readonly ShownTool[] = tools?.tools ?? [];
  const shown = listed.length > 0 ? listed : readFound(found ?? []);
  const isConnected = tools?.state === 'connected';
  return (
    <Card className={styles['card']}>
      <h2>
        {text.toolsTitle} {shown.length > 0 && <span className={styles['count']}>{shown.length}</span>}
      </h2>
      {error !== null && shown.length === 0 && <ErrorNotice error={error} onRetry={onRetry} />}
      {tools === undefined && error === null && <Skeleton lines={4} />}
      {shown.length > 0 && !isConnected && <p className={styles['muted']}>{text.toolsFound}</p>}
      {tools?.incomplete && <p className={styles['muted']}>{text.toolsIncomplete}</p>}
      {tools && shown.length === 0 && (
        <p className={styles['muted']}>{isConnected ? text.toolsNone : text.toolsOnceConnected}</p>
      )}
      {shown.length > 0 && <SearchedTools server={server} tools={shown} />}
    </Card>
  );
}

function SearchedTools({ server, tools }: { readonly server: string; readonly tools: readonly ShownTool[] }) {
  const text = strings.servers;
  const [search, setSearch] = useState('');
  const wanted = useDeferredValue(search.trim().toLowerCase());
  const matching = tools.filter(({ name, title = '', description }) =>
    `${name} ${title} ${description}`.toLowerCase().includes(wanted),
  );
  const { shown, next, showMore } = useFirst(matching, STEP);
  return (
    <>
      {tools.length > MANY && (
        <TextField
          type="search"
          label={text.toolsSearch}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      )}
      {matching.length === 0 && <p className={styles['muted']}>{strings.common.noMatches}</p>}
      <ul className={styles['tools']}>
        {shown.map(({ name, title, description, asksFirst }) => (
          <li key={name} className={styles['tool']}>
            <p className={styles['name']}>
              <Link href={`/tools/${encodeURIComponent(server)}/${encodeURIComponent(name)}`}>
                {title === undefined ? <code>{name}</code> : <bdi>{visibleText(title)}</bdi>}
              </Link>
              {title !== undefined && title !== name && <code className={styles['muted']}>{name}</code>}
              {asksFirst && <Badge tone="info">{text.asksFirst}</Badge>}
            </p>
            {description !== '' && <p className={styles['description']}>{description}</p>}
          </li>
        ))}
      </ul>
      {next > 0 && (
        <Button onClick={showMore} className={styles['more']}>
          {text.showMore(next)}
        </Button>
      )}
    </>
  );
}
