const clockFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** The time of day of a moment; nothing for none. */
export function formatClock(at: number | undefined): string {
  return at === undefined ? '' : clockFormat.format(at);
}
