import type { AuditKind, AuditOutcome } from '@behalf/contracts';
import { auditOutcomes } from '@behalf/contracts/plain';
import type { AuditEntry } from '../../api/admin.ts';

/** An event with the members that are shown of it. */
export interface AuditEvent {
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

/** Undefined for an event that was spoilt in the store. A member that is missing, or not what it should be, is empty. */
export function readEvent(entry: AuditEntry): AuditEvent | undefined {
  if (!('kind' in entry) || typeof entry['at'] !== 'number') return undefined;
  const { id, at, kind, action } = entry as { id: string; at: number; kind: AuditKind; action: string };
  const fields = entry as Readonly<Record<string, unknown>>;
  const actor = (fields['actor'] ?? {}) as Readonly<Record<string, unknown>>;
  return {
    ...{ id, at, kind, action },
    outcome: auditOutcomes.find((outcome) => outcome === fields['outcome']),
    actor: { kind: text(actor['kind']), id: text(actor['id']), by: text(actor['by']) },
    door: text(fields['door']),
    code: text(fields['code']),
    server: text(fields['server']),
    tool: text(fields['tool']),
    subject: text(fields['subject']),
    arguments: texts(fields['arguments']),
    authority: text(fields['authority']),
    scopes: texts(fields['scopes']),
    providerCode: text(fields['providerCode']),
    hint: text(fields['hint']),
    changed: texts(fields['changed']),
    durationMs: number(fields['durationMs']),
    count: number(fields['count']),
    request: text(fields['request']),
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
