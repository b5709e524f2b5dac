import type { ChatCall } from '@behalf/contracts';

type CallStateName = ChatCall['state'];

/** Returns the state to show. An unfinished call of a finished answer is `cancelled`: outcome unknown. */
export function displayedState(state: CallStateName, isLive: boolean): CallStateName {
  return !isLive && (state === 'running' || state === 'waiting') ? 'cancelled' : state;
}

const MAX_SUMMARY_LENGTH = 90;
const MAX_VALUE_LENGTH = 40;
const MAX_ENTRIES = 6;

/** Summarizes the arguments in one line. */
export function summarizeArguments(args: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(args);
  const shown = entries.slice(0, MAX_ENTRIES).map(([name, value]) => `${name}: ${summarizeValue(value)}`);
  const line = shown.join(', ') + (entries.length > MAX_ENTRIES ? ', …' : '');
  return truncate(line, MAX_SUMMARY_LENGTH);
}

function summarizeValue(value: unknown): string {
  if (typeof value === 'string') return truncate(JSON.stringify(value), MAX_VALUE_LENGTH);
  if (Array.isArray(value)) return value.length === 0 ? '[]' : '[…]';
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0 ? '{}' : '{…}';
  return String(value);
}

function truncate(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
}
