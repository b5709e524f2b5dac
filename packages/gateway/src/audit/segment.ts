import type { Keyring, SealContext } from '@behalf/kernel';
import type { AuditSegmentRecord } from '../ports/index.ts';
import type { AuditEvent } from './audit.ts';

/** Where a writer's chain ends so far. */
export interface ChainEnd {
  readonly writer: string;
  /** 0 before the first segment. */
  readonly seq: number;
  /** What the next segment names as the one before it. */
  readonly mac: string;
  readonly lastAt: number;
}

/** Events that are written together, oldest first. */
export interface EventBatch {
  readonly firstAt: number;
  readonly lastAt: number;
  readonly lines: readonly string[];
}

export function segmentId(writer: string, seq: number): string {
  return `${writer}:${String(seq).padStart(12, '0')}`;
}

export function createNextSegment(
  chainEnd: ChainEnd,
  batch: EventBatch,
  keyring: Keyring,
): AuditSegmentRecord {
  const seq = chainEnd.seq + 1;
  const unsigned = {
    id: segmentId(chainEnd.writer, seq),
    writer: chainEnd.writer,
    seq,
    firstAt: batch.firstAt,
    // A clock that is set back must not put a segment before its predecessor in the store's order.
    lastAt: Math.max(chainEnd.lastAt, batch.lastAt),
    count: batch.lines.length,
    prev: chainEnd.mac,
    events: batch.lines.join('\n'),
  };
  return { ...unsigned, mac: keyring.mac(unsigned.events, toSealContext(unsigned)) };
}

export function chainEndOf({ writer, seq, mac, lastAt }: AuditSegmentRecord): ChainEnd {
  return { writer, seq, mac, lastAt };
}

export function hasValidMac(segment: AuditSegmentRecord, keyring: Keyring): boolean {
  return (
    segment.id === segmentId(segment.writer, segment.seq) &&
    keyring.verifyMac(segment.events, segment.mac, toSealContext(segment))
  );
}

export function linesOf({ events }: AuditSegmentRecord): string[] {
  return events === '' ? [] : events.split('\n');
}

/** All of a segment but its text is what the text is bound to: nothing of it can be changed, and none take another's place. */
function toSealContext(segment: Omit<AuditSegmentRecord, 'mac'>): SealContext {
  const { writer, seq, prev, firstAt, lastAt, count } = segment;
  return {
    tenant: '-',
    principal: '-',
    server: '-',
    kind: 'audit',
    field: 'segment',
    binding: [writer, String(seq), prev, String(firstAt), String(lastAt), String(count)],
  };
}

/** As it is kept. Its id is its place: `<writer>:<seq>:<line>`. */
export interface StoredAuditEvent extends AuditEvent {
  readonly at: number;
}

/**
 * What is written and shown, besides the time, the tenant and the actor. Field by field: whatever else an event object
 * carries, a secret planted by mistake included, goes nowhere. Used in both directions, so that a row that was changed in
 * the store cannot show more either.
 */
const requiredFields = ['kind', 'action', 'door', 'outcome'] as const;
const textFields = [
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
const listFields = ['arguments', 'scopes', 'changed'] as const;
const numberFields = ['durationMs', 'count'] as const;
const actorFields = ['kind', 'id', 'by'] as const;

const MAX_TEXT_LENGTH = 200;
const MAX_NAMES = 50;
/** They would break lines, colour a terminal, or turn the direction in which an administrator reads. */
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** Is the same in JSON. */
const UNESCAPED = /^[\w .:@/+-]*$/;

/** One line of JSON. By hand: `JSON.stringify` takes three times as long, and there is one for every call. */
export function formatEventLine(event: AuditEvent, at: number): string {
  const { tenant, actor } = event;
  if (typeof tenant !== 'string') throw new TypeError('An audit event must name its tenant');
  // Never cut: two tenants must not become one.
  let line = `{"at":${at},"tenant":${UNESCAPED.test(tenant) ? `"${tenant}"` : JSON.stringify(tenant)}`;
  // Member by member: with the names in a loop each look-up would be one that nothing is remembered of.
  line += formatMember(',"kind":', event.kind) + formatMember(',"action":', event.action);
  line += formatMember(',"door":', event.door) + formatMember(',"outcome":', event.outcome);
  line += `,"actor":{"kind":${quote(actor.kind)}${formatMember(',"id":', actor.id)}${formatMember(',"by":', actor.by)}}`;
  line += formatMember(',"code":', event.code) + formatMember(',"server":', event.server);
  line += formatMember(',"serverId":', event.serverId) + formatMember(',"tool":', event.tool);
  line +=
    formatMember(',"authority":', event.authority) + formatMember(',"providerCode":', event.providerCode);
  line += formatMember(',"hint":', event.hint) + formatMember(',"subject":', event.subject);
  line += formatMember(',"request":', event.request);
  line += formatList(',"arguments":', event.arguments) + formatList(',"scopes":', event.scopes);
  line += formatList(',"changed":', event.changed);
  line += formatNumber(',"durationMs":', event.durationMs) + formatNumber(',"count":', event.count);
  return `${line}}`;
}

/** Null when the line is nothing that we write. */
export function parseEventLine(line: string): StoredAuditEvent | null {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isRecord(row) || !Number.isFinite(row['at']) || typeof row['tenant'] !== 'string') return null;
  if (!isRecord(row['actor']) || requiredFields.some((field) => typeof row[field] !== 'string')) return null;
  const event: Record<string, unknown> = { at: row['at'], tenant: row['tenant'] };
  for (const field of requiredFields) event[field] = truncate(row[field] as string);
  const actor: Record<string, string> = {};
  for (const field of actorFields) {
    const value = row['actor'][field];
    if (typeof value === 'string') actor[field] = truncate(value);
  }
  event['actor'] = actor;
  for (const field of textFields) if (typeof row[field] === 'string') event[field] = truncate(row[field]);
  for (const field of listFields) {
    if (Array.isArray(row[field])) event[field] = row[field].filter(isText).map(truncate);
  }
  for (const field of numberFields) if (Number.isFinite(row[field])) event[field] = row[field];
  return event as unknown as StoredAuditEvent;
}

function formatMember(name: string, value: unknown): string {
  // The types say that it is a text. Where a mistake says otherwise, all that an object holds would be written.
  return typeof value === 'string' ? name + quote(value) : '';
}

function formatList(name: string, value: unknown): string {
  return Array.isArray(value) ? `${name}[${truncateNames(value).map(quote).join(',')}]` : '';
}

function formatNumber(name: string, value: unknown): string {
  return Number.isFinite(value) ? `${name}${String(value)}` : '';
}

function quote(value: string): string {
  return value.length <= MAX_TEXT_LENGTH && UNESCAPED.test(value)
    ? `"${value}"`
    : JSON.stringify(truncate(value));
}

function truncate(value: string): string {
  const cut = value.length > MAX_TEXT_LENGTH ? `${value.slice(0, MAX_TEXT_LENGTH - 1)}…` : value;
  return cut.replace(CONTROL_CHARACTERS, '');
}

function truncateNames(names: readonly unknown[]): string[] {
  const shown = (names.length > MAX_NAMES ? names.slice(0, MAX_NAMES) : names).filter(isText);
  // Fifty decoys must not hide the one that counts without a trace.
  if (names.length > MAX_NAMES) shown.push(`… and ${names.length - MAX_NAMES} more`);
  return shown;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
