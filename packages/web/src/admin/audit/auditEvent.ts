import type { AuditKind, AuditOutcome } from '@behalf/contracts';
import { auditOutcomes } from '@behalf/contracts/plain';
import type { AuditEntry } from '../../api/admin.ts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';

/** Audit event with the fields that the page shows. */
export interface ShownAuditEvent {
  readonly id: string;
  readonly at: number;
  readonly kind: AuditKind;
  readonly action: string;
  readonly outcome: AuditOutcome | undefined;
  readonly actor: { readonly kind: string; readonly id: string; readonly by: string };
  readonly door: string;
  readonly code: string;
  readonly server: string;
  readonly tool: string;
  readonly subject: string;
  readonly arguments: readonly string[];
  readonly authority: string;
  readonly scopes: readonly string[];
  readonly providerCode: string;
  readonly hint: string;
  readonly changed: readonly string[];
  readonly durationMs: number | undefined;
  readonly count: number | undefined;
  readonly request: string;
}

/** Parses an audit event. Returns undefined if it is corrupt. Missing and invalid fields are empty. */
export function parseAuditEvent(entry: AuditEntry): ShownAuditEvent | undefined {
  if (!('kind' in entry) || typeof entry['at'] !== 'number') return undefined;
  const { id, at, kind, action } = entry as { id: string; at: number; kind: AuditKind; action: string };
  const fields = entry as Readonly<Record<string, unknown>>;
  const actor = (fields['actor'] ?? {}) as Readonly<Record<string, unknown>>;
  return {
    ...{ id, at, kind, action },
    outcome: auditOutcomes.find((outcome) => outcome === fields['outcome']),
    actor: { kind: stringOf(actor['kind']), id: stringOf(actor['id']), by: stringOf(actor['by']) },
    door: stringOf(fields['door']),
    code: stringOf(fields['code']),
    server: stringOf(fields['server']),
    tool: stringOf(fields['tool']),
    subject: stringOf(fields['subject']),
    arguments: stringsOf(fields['arguments']),
    authority: stringOf(fields['authority']),
    scopes: stringsOf(fields['scopes']),
    providerCode: stringOf(fields['providerCode']),
    hint: stringOf(fields['hint']),
    changed: stringsOf(fields['changed']),
    durationMs: numberOf(fields['durationMs']),
    count: numberOf(fields['count']),
    request: stringOf(fields['request']),
  };
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export const outcomeTones: Readonly<Record<AuditOutcome, Tone>> = {
  ok: 'success',
  refused: 'warning',
  failed: 'danger',
  uncertain: 'info',
  asked: 'info',
};

/** Returns the description of an action, or the action itself. */
export function actionLabel(action: string): string {
  const labels: Readonly<Record<string, string>> = strings.admin.audit.actions;
  return Object.hasOwn(labels, action) ? (labels[action] ?? action) : action;
}

/** Returns the name of the actor, or its ID or kind if the name is unknown. */
export function actorLabel(
  { kind, id }: ShownAuditEvent['actor'],
  userNames: ReadonlyMap<string, string>,
): string {
  const labels: Readonly<Record<string, string>> = strings.admin.audit.actors;
  const userName = userNames.get(id) ?? id;
  return userName || (Object.hasOwn(labels, kind) ? (labels[kind] ?? kind) : kind);
}

/** Returns the target: server and tool, or else the subject. User names replace IDs if known. */
export function targetLabel(
  { server, tool, subject }: ShownAuditEvent,
  userNames: ReadonlyMap<string, string>,
  serverTitles: ReadonlyMap<string, string>,
): string {
  return (
    [serverTitles.get(server) ?? server, tool].filter(Boolean).join(' · ') ||
    (userNames.get(subject) ?? subject)
  );
}
