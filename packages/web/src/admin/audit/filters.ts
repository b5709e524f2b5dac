import { auditKinds, auditOutcomes } from '@behalf/contracts/plain';

/** Filters of the audit log. The REST API and the page address use these names. */
export const filterNames = [
  ...(['kind', 'outcome', 'server', 'action', 'tool'] as const),
  ...(['actor', 'code', 'request', 'from', 'to'] as const),
] as const;
export type FilterName = (typeof filterNames)[number];
export type AuditFilters = Readonly<Partial<Record<FilterName, string>>>;

const MAX_LENGTH = 200;

/** Reads the filters of an address. Drops values that the gateway rejects, so that old links still work. */
export function readFilters(params: URLSearchParams): AuditFilters {
  const found: Partial<Record<FilterName, string>> = {};
  for (const name of filterNames) {
    const value = parseValue(name, (params.get(name) ?? '').trim());
    if (value !== undefined) found[name] = value;
  }
  return found;
}

function parseValue(name: FilterName, value: string): string | undefined {
  if (value === '' || value.length > MAX_LENGTH) return undefined;
  if (name === 'kind') return (auditKinds as readonly string[]).includes(value) ? value : undefined;
  if (name === 'outcome') return (auditOutcomes as readonly string[]).includes(value) ? value : undefined;
  if (name === 'from' || name === 'to') return parseMoment(value);
  return value;
}

/** Converts a time to UTC in ISO 8601 format. A date without a time is midnight. */
function parseMoment(text: string): string | undefined {
  // Browsers disagree about other date formats.
  const timestamp = /^\d{4}-\d{2}-\d{2}(T|$)/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timestamp)) return undefined;
  const moment = new Date(timestamp).toISOString();
  // An offset can produce a year with five digits, which the gateway rejects.
  return moment.startsWith('+') ? undefined : moment;
}

/** Serializes filters as a query string. Equal filters produce equal text. */
export function writeFilters(filters: AuditFilters): string {
  const params = new URLSearchParams();
  for (const name of filterNames) {
    const value = filters[name]?.trim();
    if (value) params.set(name, value);
  }
  return params.toString();
}

const twoDigits = (value: number) => String(value).padStart(2, '0');

/** Formats a time for a `datetime-local` field. Returns an empty string for no time. */
export function toLocalField(moment: string | undefined): string {
  const date = new Date(moment ?? '');
  if (Number.isNaN(date.getTime())) return '';
  const day = [date.getFullYear(), twoDigits(date.getMonth() + 1), twoDigits(date.getDate())].join('-');
  return `${day}T${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
}

/** Parses the value of a `datetime-local` field to UTC. Returns an empty string for no value. */
export function fromLocalField(text: string): string {
  // `Date.parse` treats a time without an offset as local.
  return parseMoment(text) ?? '';
}
