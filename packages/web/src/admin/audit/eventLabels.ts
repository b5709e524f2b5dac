import type { AuditOutcome } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';
import type { ShownAuditEvent } from './readEvent.ts';

export const outcomeTones: Readonly<Record<AuditOutcome, Tone>> = {
  ok: 'success',
  refused: 'warning',
  failed: 'danger',
  uncertain: 'info',
  asked: 'info',
};

/** What was done, in words where there are any for it. */
export function actionLabel(action: string): string {
  const labels: Readonly<Record<string, string>> = strings.admin.audit.actions;
  return Object.hasOwn(labels, action) ? (labels[action] ?? action) : action;
}

/** Who did it: by name where it is known. */
export function actorLabel(
  { kind, id }: ShownAuditEvent['actor'],
  userNames: ReadonlyMap<string, string>,
): string {
  const labels: Readonly<Record<string, string>> = strings.admin.audit.actors;
  const userName = userNames.get(id) ?? id;
  return userName || (Object.hasOwn(labels, kind) ? (labels[kind] ?? kind) : kind);
}

/** What it was done to: a server with its tool, or else what it is called; a user by name where it is known. */
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
