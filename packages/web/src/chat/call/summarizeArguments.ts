const LONGEST = 90;
const LONGEST_VALUE = 40;
const MOST = 6;

/** The arguments in one line, to recognise a call by. */
export function summarizeArguments(args: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(args);
  const shown = entries.slice(0, MOST).map(([name, value]) => `${name}: ${briefly(value)}`);
  const line = shown.join(', ') + (entries.length > MOST ? ', …' : '');
  return cut(line, LONGEST);
}

function briefly(value: unknown): string {
  if (typeof value === 'string') return cut(JSON.stringify(value), LONGEST_VALUE);
  if (Array.isArray(value)) return value.length === 0 ? '[]' : '[…]';
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0 ? '{}' : '{…}';
  return String(value);
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
