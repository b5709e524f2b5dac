import { strings } from '../strings/strings.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A relative time, or a date if it is long ago. */
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

/** A time with seconds; with the date if it is not today. */
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

const clockFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** The time of day; empty if undefined. */
export function formatClock(at: number | undefined): string {
  return at === undefined ? '' : clockFormat.format(at);
}

/** The remaining time as a countdown. */
export function formatRemainingTime(remainingMs: number): string {
  const seconds = Math.max(0, Math.ceil(remainingMs / 1000));
  const minutes = Math.floor(seconds / 60);
  return `${String(minutes)}:${String(seconds % 60).padStart(2, '0')}`;
}

const numberFormat = new Intl.NumberFormat();
const percentFormat = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

export function formatNumber(value: number): string {
  return numberFormat.format(value);
}

/** A share in percent; 0 if the total is 0. */
export function formatShare(part: number, whole: number): string {
  return percentFormat.format(whole === 0 ? 0 : part / whole);
}

const KB = 1024;
const MB = KB * KB;

/** A size in bytes with a unit. */
export function formatBytes(count: number): string {
  const { bytes } = strings.tools.result;
  if (count < KB) return bytes(String(Math.round(count)), 'B');
  if (count < MB) return bytes((count / KB).toFixed(count < 10 * KB ? 1 : 0), 'KB');
  return bytes((count / MB).toFixed(1), 'MB');
}
