import type { AuditView } from '@behalf/contracts';
import { memo, useMemo } from 'react';
import { Link } from 'wouter';
import type { AuditEntry } from '../../api/admin.ts';
import { explainErrorCode } from '../../api/explain.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { type Fact, Facts } from '../../ui/Facts.tsx';
import { LongList } from '../../ui/LongList.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { formatDateTime, formatDuration } from '../../ui/format.ts';
import styles from './EventList.module.css';
import {
  type ShownAuditEvent,
  actionLabel,
  actorLabel,
  outcomeTones,
  parseAuditEvent,
  targetLabel,
} from './auditEvent.ts';
import type { AuditFilters } from './filters.ts';

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

/** All recorded fields of an event, with links that filter by them. */
export function EventDialog({
  entry,
  userNames,
  serverTitles,
  onFilter,
  onClose,
}: {
  readonly entry: AuditEntry;
  readonly userNames: ReadonlyMap<string, string>;
  readonly serverTitles: ReadonlyMap<string, string>;
  readonly onFilter: (filters: AuditFilters) => void;
  readonly onClose: () => void;
}) {
  const { audit } = strings.admin;
  const event = parseAuditEvent(entry);
  if (!event) return null;
  const explanation = explainErrorCode(event.code);
  const related: readonly (readonly [string, AuditFilters])[] = [
    ...(event.request ? [[audit.filterByRequest, { request: event.request }] as const] : []),
    ...(event.actor.id ? [[audit.filterByActor, { actor: event.actor.id }] as const] : []),
    ...(event.server ? [[audit.filterByServer, { server: event.server }] as const] : []),
  ];
  return (
    <Dialog
      title={actionLabel(event.action)}
      onClose={onClose}
      isWide
      actions={related.map(([label, filters]) => (
        <Button key={label} size="small" onClick={() => onFilter(filters)}>
          {label}
        </Button>
      ))}
    >
      {explanation && (
        <Notice tone="neutral" title={audit.errorShown(explanation.title)}>
          {explanation.text}
        </Notice>
      )}
      <Facts facts={factsOf(event, userNames, serverTitles)} />
    </Dialog>
  );
}

function factsOf(
  event: ShownAuditEvent,
  userNames: ReadonlyMap<string, string>,
  serverTitles: ReadonlyMap<string, string>,
): Fact[] {
  const { fields, outcomes, kinds, serverAndId } = strings.admin.audit;
  const { actor, outcome, durationMs, count } = event;
  const doorNames: Readonly<Record<string, string>> = strings.admin.audit.doors;
  const authorityNames: Readonly<Record<string, string>> = strings.admin.audit.authorities;
  const authenticationNames: Readonly<Record<string, string>> = strings.admin.audit.by;
  const actorName = actorLabel(actor, userNames);
  const title = serverTitles.get(event.server);
  const server = title === undefined ? event.server : serverAndId(title, event.server);
  const text = (name: string, value: string, isCode = false): Fact[] =>
    value === '' ? [] : [{ name, value, isCode }];
  return [
    { name: fields.at, value: formatDateTime(event.at) },
    ...(outcome
      ? [{ name: fields.outcome, value: <Badge tone={outcomeTones[outcome]}>{outcomes[outcome]}</Badge> }]
      : []),
    ...text(fields.code, event.code, true),
    {
      name: fields.actor,
      value:
        actor.kind === 'user' && actor.id !== '' ? (
          <Link href={`/admin/users?user=${encodeURIComponent(actor.id)}`}>{actorName}</Link>
        ) : (
          actorName
        ),
    },
    ...text(fields.by, authenticationNames[actor.by] ?? actor.by),
    ...text(fields.door, doorNames[event.door] ?? event.door),
    ...text(fields.server, server),
    ...text(fields.tool, event.tool),
    ...text(fields.arguments, event.arguments.join(', ')),
    ...text(fields.authority, authorityNames[event.authority] ?? event.authority),
    ...text(fields.scopes, event.scopes.join(' '), true),
    ...text(fields.providerCode, event.providerCode, true),
    ...text(fields.hint, event.hint),
    ...text(fields.subject, userNames.get(event.subject) ?? event.subject),
    ...text(fields.changed, event.changed.join(', ')),
    ...(durationMs === undefined ? [] : [{ name: fields.duration, value: formatDuration(durationMs) }]),
    ...(count === undefined ? [] : [{ name: fields.count, value: String(count) }]),
    ...text(fields.request, event.request, true),
    { name: fields.kind, value: kinds[event.kind] },
    { name: fields.action, value: event.action, isCode: true },
    { name: fields.id, value: event.id, isCode: true },
  ];
}
