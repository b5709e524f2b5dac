import { Link } from 'wouter';
import type { AuditEntry } from '../../api/admin.ts';
import { explainCode } from '../../api/explain.ts';
import { formatDuration, formatMoment } from '../../hooks/formatTime.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Facts, type Fact } from '../../ui/Facts.tsx';
import { actionWords, actorWords, outcomeTones } from './eventWords.ts';
import type { AuditFilters } from './filters.ts';
import { readEvent, type AuditEvent } from './readEvent.ts';

/** All that is recorded of one event, and the ways to what belongs to it. */
export function EventDialog({
  entry,
  names,
  titles,
  onFilter,
  onClose,
}: {
  readonly entry: AuditEntry;
  readonly names: ReadonlyMap<string, string>;
  readonly titles: ReadonlyMap<string, string>;
  readonly onFilter: (filters: AuditFilters) => void;
  readonly onClose: () => void;
}) {
  const { audit } = strings.admin;
  const event = readEvent(entry);
  if (!event) return null;
  const explained = explainCode(event.code);
  const related: readonly (readonly [string, AuditFilters])[] = [
    ...(event.request ? [[audit.sameRequest, { request: event.request }] as const] : []),
    ...(event.actor.id ? [[audit.sameActor, { actor: event.actor.id }] as const] : []),
    ...(event.server ? [[audit.sameServer, { server: event.server }] as const] : []),
  ];
  return (
    <Dialog
      title={actionWords(event.action)}
      onClose={onClose}
      isWide
      actions={related.map(([label, filters]) => (
        <Button key={label} size="small" onClick={() => onFilter(filters)}>
          {label}
        </Button>
      ))}
    >
      {explained && (
        <Notice tone="neutral" title={audit.told(explained.title)}>
          {explained.text}
        </Notice>
      )}
      <Facts facts={factsOf(event, names, titles)} />
    </Dialog>
  );
}

function factsOf(
  event: AuditEvent,
  names: ReadonlyMap<string, string>,
  titles: ReadonlyMap<string, string>,
): Fact[] {
  const { fields, outcomes, kinds, serverAndId } = strings.admin.audit;
  const { actor, outcome, durationMs, count } = event;
  const doors: Readonly<Record<string, string>> = strings.admin.audit.doors;
  const authorities: Readonly<Record<string, string>> = strings.admin.audit.authorities;
  const by: Readonly<Record<string, string>> = strings.admin.audit.by;
  const who = actorWords(actor, names);
  const title = titles.get(event.server);
  const server = title === undefined ? event.server : serverAndId(title, event.server);
  const text = (name: string, value: string, isCode = false): Fact[] =>
    value === '' ? [] : [{ name, value, isCode }];
  return [
    { name: fields.at, value: formatMoment(event.at) },
    ...(outcome
      ? [{ name: fields.outcome, value: <Badge tone={outcomeTones[outcome]}>{outcomes[outcome]}</Badge> }]
      : []),
    ...text(fields.code, event.code, true),
    {
      name: fields.actor,
      value:
        actor.kind === 'user' && actor.id !== '' ? (
          <Link href={`/admin/users?user=${encodeURIComponent(actor.id)}`}>{who}</Link>
        ) : (
          who
        ),
    },
    ...text(fields.by, by[actor.by] ?? actor.by),
    ...text(fields.door, doors[event.door] ?? event.door),
    ...text(fields.server, server),
    ...text(fields.tool, event.tool),
    ...text(fields.arguments, event.arguments.join(', ')),
    ...text(fields.authority, authorities[event.authority] ?? event.authority),
    ...text(fields.scopes, event.scopes.join(' '), true),
    ...text(fields.providerCode, event.providerCode, true),
    ...text(fields.hint, event.hint),
    ...text(fields.subject, names.get(event.subject) ?? event.subject),
    ...text(fields.changed, event.changed.join(', ')),
    ...(durationMs === undefined ? [] : [{ name: fields.duration, value: formatDuration(durationMs) }]),
    ...(count === undefined ? [] : [{ name: fields.count, value: String(count) }]),
    ...text(fields.request, event.request, true),
    { name: fields.kind, value: kinds[event.kind] },
    { name: fields.action, value: event.action, isCode: true },
    { name: fields.id, value: event.id, isCode: true },
  ];
}
