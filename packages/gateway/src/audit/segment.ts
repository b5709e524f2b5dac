import { type Keyring, type SealContext, isObject } from '@behalf/kernel';
import type { AuditSegmentRecord } from '../ports/index.ts';
import type { AuditEvent } from './audit.ts';

/**
 * The stored form of the audit log. Each process writes its own chain of segments; a segment is a batch of event lines.
 *
 * Invariants:
 * - The MAC of a segment covers its text, its position, its times and the MAC of its predecessor. A change, a move, an
 *   insertion or a removal inside a chain therefore fails verification.
 * - `formatEventLine` and `parseEventLine` copy a fixed list of fields, so no other property of an event object is stored or
 *   shown.
 */

/** The end of a writer's chain. */
export interface ChainEnd {
  readonly writer: string;
  /** 0 before the first segment. */
  readonly seq: number;
  /** The MAC of the last segment. The next segment stores it as `prev`. */
  readonly mac: string;
  readonly lastAt: number;
}

/** The events of one segment, oldest first. */
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
    // Segments are ordered by `lastAt`. A clock that was set back must not order a segment before its predecessor.
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

/** Binds the text to every other field, so that no field can change and no segment can replace another. */
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

export interface StoredAuditEvent extends AuditEvent {
  readonly at: number;
}

/**
 * The fields that are read back besides the time and the tenant. A fixed list: a secret that another property carries by
 * mistake is not written, and a row that was changed in the store cannot show more.
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
/** Line breaks, terminal escapes and bidirectional overrides: they would falsify what an administrator reads. */
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** Characters that JSON writes without an escape. */
const UNESCAPED = /^[\w .:@/+-]*$/;

/** One line of JSON. Written by hand because every call writes one and `JSON.stringify` takes three times as long. */
export function formatEventLine(event: AuditEvent, at: number): string {
  const { tenant, actor } = event;
  if (typeof tenant !== 'string') throw new TypeError('An audit event must name its tenant');
  // Not truncated: two tenants must not become one.
  let line = `{"at":${at},"tenant":${UNESCAPED.test(tenant) ? `"${tenant}"` : JSON.stringify(tenant)}`;
  // No loop over the field names: V8 cannot cache a property lookup whose name changes.
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

/** Null if `formatEventLine` cannot have written the line. */
export function parseEventLine(line: string): StoredAuditEvent | null {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isObject(row) || !Number.isFinite(row['at']) || typeof row['tenant'] !== 'string') return null;
  if (!isObject(row['actor']) || requiredFields.some((field) => typeof row[field] !== 'string')) return null;
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
  // A non-string can only come from a type error elsewhere. Writing it could write the whole content of an object.
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
  // An attacker must not hide a name behind fifty others without a trace.
  if (names.length > MAX_NAMES) shown.push(`… and ${names.length - MAX_NAMES} more`);
  return shown;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
