import type { AuditOutcome } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';
import type { AuditEvent } from './readEvent.ts';

export const outcomeTones: Readonly<Record<AuditOutcome, Tone>> = {
  ok: 'success',
  refused: 'warning',
  failed: 'danger',
  uncertain: 'info',
  asked: 'info',
};

/** What was done, in words where there are any for it. */
export function actionWords(action: string): string {
  const words: Readonly<Record<string, string>> = strings.admin.audit.actions;
  return Object.hasOwn(words, action) ? (words[action] ?? action) : action;
}

/** Who did it: by name where it is known. */
export function actorWords({ kind, id }: AuditEvent['actor'], names: ReadonlyMap<string, string>): string {
  const words: Readonly<Record<string, string>> = strings.admin.audit.actors;
  const known = names.get(id) ?? id;
  return known || (Object.hasOwn(words, kind) ? (words[kind] ?? kind) : kind);
}

/** What it was done to: a server with its tool, or else what it is called; a user by name where it is known. */
export function targetWords(
  { server, tool, subject }: AuditEvent,
  names: ReadonlyMap<string, string>,
  titles: ReadonlyMap<string, string>,
): string {
  return [titles.get(server) ?? server, tool].filter(Boolean).join(' · ') || (names.get(subject) ?? subject);
}
