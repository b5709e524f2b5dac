import { strings } from '../strings/strings.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, in words; a date when it is long ago. */
export function formatAgo(at: number, now = Date.now()): string {
  const { ago } = strings.common;
  const elapsed = now - at;
  if (elapsed < MINUTE) return ago.now;
  if (elapsed < HOUR) return ago.minutes(Math.floor(elapsed / MINUTE));
  if (elapsed < DAY) return ago.hours(Math.floor(elapsed / HOUR));
  if (elapsed < 7 * DAY) return ago.days(Math.floor(elapsed / DAY));
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }).format(at);
}

export function formatDateTime(at: number): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }).format(at);
}

/** A moment near to now, to the second; with its day when that is another one. */
export function formatTimeOrDate(at: number, now = Date.now()): string {
  const isToday = new Date(at).toDateString() === new Date(now).toDateString();
  return isToday
    ? new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' }).format(at)
    : formatDateTime(at);
}

export function formatDuration(ms: number): string {
  const { milliseconds, seconds } = strings.common;
  return ms < 1000 ? milliseconds(Math.round(ms)) : seconds((ms / 1000).toFixed(ms < 10_000 ? 1 : 0));
}
