import type { AuditView } from '@behalf/contracts';
import { memo, useMemo } from 'react';
import type { AuditEntry } from '../../api/admin.ts';
import { formatDateTime } from '../../hooks/formatTime.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { LongList } from '../../ui/LongList.tsx';
import styles from './EventList.module.css';
import { actionLabel, actorLabel, outcomeTones, targetLabel } from './eventLabels.ts';
import { parseAuditEvent } from './readEvent.ts';

export function EventList({
  pages,
  userNames,
  serverTitles,
  isFiltered,
  onOpen,
  onClear,
}: {
  readonly pages: readonly AuditView[];
  readonly userNames: ReadonlyMap<string, string>;
  readonly serverTitles: ReadonlyMap<string, string>;
  readonly isFiltered: boolean;
  readonly onOpen: (entry: AuditEntry) => void;
  readonly onClear: () => void;
}) {
  const { audit } = strings.admin;
  const entries = useMemo(() => pages.flatMap(({ events }) => events), [pages]);
  if (entries.length === 0) {
    const hasOlderEvents = pages.at(-1)?.next !== undefined;
    return (
      <EmptyState
        icon="search"
        title={hasOlderEvents ? audit.searchIncompleteTitle : audit.emptyTitle}
        actions={isFiltered && <Button onClick={onClear}>{audit.clear}</Button>}
      >
        {hasOlderEvents ? audit.searchIncompleteText : isFiltered ? audit.emptyText : audit.noEventsText}
      </EmptyState>
    );
  }
  return (
    <div className={styles['events']}>
      <div className={styles['head']} aria-hidden="true">
        {audit.columns.map((name) => (
          <span key={name}>{name}</span>
        ))}
      </div>
      <LongList label={audit.listOf} items={entries} keyOf={({ id }) => id} itemHeight={3}>
        {(entry) => (
          <EventRow entry={entry} userNames={userNames} serverTitles={serverTitles} onOpen={onOpen} />
        )}
      </LongList>
    </div>
  );
}

const EventRow = memo(function EventRow({
  entry,
  userNames,
  serverTitles,
  onOpen,
}: {
  readonly entry: AuditEntry;
  readonly userNames: ReadonlyMap<string, string>;
  readonly serverTitles: ReadonlyMap<string, string>;
  readonly onOpen: (entry: AuditEntry) => void;
}) {
  const { audit } = strings.admin;
  const event = parseAuditEvent(entry);
  if (!event) {
    return (
      <div role="listitem" className={styles['spoilt']}>
        <Badge tone="danger">{audit.corrupted}</Badge> <code>{entry.id}</code>
      </div>
    );
  }
  const { at, outcome, action, code } = event;
  return (
    <div role="listitem" className={styles['item']}>
      <button type="button" className={styles['row']} onClick={() => onOpen(entry)}>
        <span className={styles['time']}>{formatDateTime(at)}</span>
        <span>{outcome && <Badge tone={outcomeTones[outcome]}>{audit.outcomes[outcome]}</Badge>}</span>
        <span className={styles['action']}>
          {actionLabel(action)}
          {code && <code className={styles['code']}>{code}</code>}
        </span>
        <span>{actorLabel(event.actor, userNames)}</span>
        <span>{targetLabel(event, userNames, serverTitles)}</span>
      </button>
    </div>
  );
});
