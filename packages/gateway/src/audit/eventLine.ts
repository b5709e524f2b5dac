import type { AuditEvent } from './audit.ts';

/** As it is kept. Its id is its place: `<writer>:<seq>:<line>`. */
export interface StoredEvent extends AuditEvent {
  readonly at: number;
}

/**
 * What is written and shown, besides the time, the tenant and the actor. Field by field: whatever else an event object
 * carries, a secret planted by mistake included, goes nowhere. Used in both directions, so that a row that was changed in
 * the store cannot show more either.
 */
const required = ['kind', 'action', 'door', 'outcome'] as const;
const texts = [
  'code',
  'server',
  'serverId',
  'tool',
  'authority',
  'providerCode',
  'hint',
  'subject',
  'request',
] as const;
const lists = ['arguments', 'scopes', 'changed'] as const;
const numbers = ['durationMs', 'count'] as const;
const ofActor = ['kind', 'id', 'by'] as const;

const LONGEST = 200;
const MOST_NAMES = 50;
/** They would break lines, colour a terminal, or turn the direction in which an administrator reads. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** Is the same in JSON. */
const PLAIN = /^[\w .:@/+-]*$/;

/** One line of JSON. By hand: `JSON.stringify` takes three times as long, and there is one for every call. */
export function eventLine(event: AuditEvent, at: number): string {
  const { tenant, actor } = event;
  if (typeof tenant !== 'string') throw new TypeError('An event belongs to a tenant');
  // Never cut: two tenants must not become one.
  let line = `{"at":${at},"tenant":${PLAIN.test(tenant) ? `"${tenant}"` : JSON.stringify(tenant)}`;
  // Member by member: with the names in a loop each look-up would be one that nothing is remembered of.
  line += member(',"kind":', event.kind) + member(',"action":', event.action);
  line += member(',"door":', event.door) + member(',"outcome":', event.outcome);
  line += `,"actor":{"kind":${quoted(actor.kind)}${member(',"id":', actor.id)}${member(',"by":', actor.by)}}`;
  line += member(',"code":', event.code) + member(',"server":', event.server);
  line += member(',"serverId":', event.serverId) + member(',"tool":', event.tool);
  line += member(',"authority":', event.authority) + member(',"providerCode":', event.providerCode);
  line += member(',"hint":', event.hint) + member(',"subject":', event.subject);
  line += member(',"request":', event.request);
  line += list(',"arguments":', event.arguments) + list(',"scopes":', event.scopes);
  line += list(',"changed":', event.changed);
  line += number(',"durationMs":', event.durationMs) + number(',"count":', event.count);
  return `${line}}`;
}

/** Null when the line is nothing that we write. */
export function readLine(line: string): StoredEvent | null {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isRecord(row) || !Number.isFinite(row['at']) || typeof row['tenant'] !== 'string') return null;
  if (!isRecord(row['actor']) || required.some((field) => typeof row[field] !== 'string')) return null;
  const event: Record<string, unknown> = { at: row['at'], tenant: row['tenant'] };
  for (const field of required) event[field] = short(row[field] as string);
  const actor: Record<string, string> = {};
  for (const field of ofActor) {
    const value = row['actor'][field];
    if (typeof value === 'string') actor[field] = short(value);
  }
  event['actor'] = actor;
  for (const field of texts) if (typeof row[field] === 'string') event[field] = short(row[field]);
  for (const field of lists) {
    if (Array.isArray(row[field])) event[field] = row[field].filter(isText).map(short);
  }
  for (const field of numbers) if (Number.isFinite(row[field])) event[field] = row[field];
  return event as unknown as StoredEvent;
}

function member(name: string, value: unknown): string {
  // The types say that it is a text. Where a mistake says otherwise, all that an object holds would be written.
  return typeof value === 'string' ? name + quoted(value) : '';
}

function list(name: string, value: unknown): string {
  return Array.isArray(value) ? `${name}[${few(value).map(quoted).join(',')}]` : '';
}

function number(name: string, value: unknown): string {
  return Number.isFinite(value) ? `${name}${String(value)}` : '';
}

function quoted(value: string): string {
  return value.length <= LONGEST && PLAIN.test(value) ? `"${value}"` : JSON.stringify(short(value));
}

function short(value: string): string {
  const cut = value.length > LONGEST ? `${value.slice(0, LONGEST - 1)}…` : value;
  return cut.replace(CONTROLS, '');
}

function few(names: readonly unknown[]): string[] {
  const kept = (names.length > MOST_NAMES ? names.slice(0, MOST_NAMES) : names).filter(isText);
  // Fifty decoys must not hide the one that counts without a trace.
  if (names.length > MOST_NAMES) kept.push(`… and ${names.length - MOST_NAMES} more`);
  return kept;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
