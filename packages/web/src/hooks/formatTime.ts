import { strings } from '../strings/strings.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, in words; a date when it is long ago. */
export function formatAgo(at: number, now = Date.now()): string {
  const { ago } = strings.common;
  const past = now - at;
  if (past < MINUTE) return ago.now;
  if (past < HOUR) return ago.minutes(Math.floor(past / MINUTE));
  if (past < DAY) return ago.hours(Math.floor(past / HOUR));
  if (past < 7 * DAY) return ago.days(Math.floor(past / DAY));
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }).format(at);
}

export function formatMoment(at: number): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }).format(at);
}

/** A moment near to now, to the second; with its day when that is another one. */
export function formatNear(at: number, now = Date.now()): string {
  const isToday = new Date(at).toDateString() === new Date(now).toDateString();
  return isToday ? new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' }).format(at) : formatMoment(at);
}

export function formatDuration(ms: number): string {
  const { milliseconds, seconds } = strings.common;
  return ms < 1000 ? milliseconds(Math.round(ms)) : seconds((ms / 1000).toFixed(ms < 10_000 ? 1 : 0));
}
