import type { AuditView } from '@behalf/contracts';
import { memo, useMemo } from 'react';
import type { AuditEntry } from '../../api/admin.ts';
import { formatMoment } from '../../hooks/formatTime.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { LongList } from '../../ui/LongList.tsx';
import styles from './EventList.module.css';
import { actionWords, actorWords, outcomeTones, targetWords } from './eventWords.ts';
import { readEvent } from './readEvent.ts';

export function EventList({
  pages,
  names,
  titles,
  isFiltered,
  onOpen,
  onClear,
}: {
  readonly pages: readonly AuditView[];
  readonly names: ReadonlyMap<string, string>;
  readonly titles: ReadonlyMap<string, string>;
  readonly isFiltered: boolean;
  readonly onOpen: (entry: AuditEntry) => void;
  readonly onClear: () => void;
}) {
  const { audit } = strings.admin;
  const entries = useMemo(() => pages.flatMap(({ events }) => events), [pages]);
  if (entries.length === 0) {
    const mayBeMore = pages.at(-1)?.next !== undefined;
    return (
      <EmptyState
        icon="search"
        title={mayBeMore ? audit.notYetTitle : audit.emptyTitle}
        actions={isFiltered && <Button onClick={onClear}>{audit.clear}</Button>}
      >
        {mayBeMore ? audit.notYetText : isFiltered ? audit.emptyText : audit.nothingText}
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
        {(entry) => <EventRow entry={entry} names={names} titles={titles} onOpen={onOpen} />}
      </LongList>
    </div>
  );
}

const EventRow = memo(function EventRow({
  entry,
  names,
  titles,
  onOpen,
}: {
  readonly entry: AuditEntry;
  readonly names: ReadonlyMap<string, string>;
  readonly titles: ReadonlyMap<string, string>;
  readonly onOpen: (entry: AuditEntry) => void;
}) {
  const { audit } = strings.admin;
  const event = readEvent(entry);
  if (!event) {
    return (
      <div role="listitem" className={styles['spoilt']}>
        <Badge tone="danger">{audit.spoilt}</Badge> <code>{entry.id}</code>
      </div>
    );
  }
  const { at, outcome, action, code } = event;
  return (
    <div role="listitem" className={styles['item']}>
      <button type="button" className={styles['row']} onClick={() => onOpen(entry)}>
        <span className={styles['time']}>{formatMoment(at)}</span>
        <span>{outcome && <Badge tone={outcomeTones[outcome]}>{audit.outcomes[outcome]}</Badge>}</span>
        <span className={styles['action']}>
          {actionWords(action)}
          {code && <code className={styles['code']}>{code}</code>}
        </span>
        <span>{actorWords(event.actor, names)}</span>
        <span>{targetWords(event, names, titles)}</span>
      </button>
    </div>
  );
});
