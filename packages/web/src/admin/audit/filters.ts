import { auditKinds, auditOutcomes } from '@behalf/contracts/plain';

/** What events can be chosen by. The names are those of the gateway, and of the address. */
export const filterNames = [
  ...(['kind', 'outcome', 'server', 'action', 'tool'] as const),
  ...(['actor', 'code', 'request', 'from', 'to'] as const),
] as const;
export type FilterName = (typeof filterNames)[number];
export type AuditFilters = Readonly<Partial<Record<FilterName, string>>>;

const MAX_LENGTH = 200;

/** The filters of an address. What the gateway would refuse is left out, so that an old link still shows something. */
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

/** A time as the gateway takes it, in UTC; a date alone is its first moment. */
function parseMoment(text: string): string | undefined {
  // What else a browser takes for a date differs from one to the next.
  const timestamp = /^\d{4}-\d{2}-\d{2}(T|$)/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timestamp)) return undefined;
  const moment = new Date(timestamp).toISOString();
  // An offset can lead into a year of five digits, which the gateway does not take.
  return moment.startsWith('+') ? undefined : moment;
}

/** As a query string; the same filters give the same text. */
export function writeFilters(filters: AuditFilters): string {
  const params = new URLSearchParams();
  for (const name of filterNames) {
    const value = filters[name]?.trim();
    if (value) params.set(name, value);
  }
  return params.toString();
}

const twoDigits = (value: number) => String(value).padStart(2, '0');

/** A moment as a field for local times shows it; empty for none. */
export function toLocalField(moment: string | undefined): string {
  const date = new Date(moment ?? '');
  if (Number.isNaN(date.getTime())) return '';
  const day = [date.getFullYear(), twoDigits(date.getMonth() + 1), twoDigits(date.getDate())].join('-');
  return `${day}T${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
}

/** What stands in such a field, as a moment that means the same to everybody; empty for none. */
export function fromLocalField(text: string): string {
  // Without an offset a time is read as local.
  return parseMoment(text) ?? '';
}
