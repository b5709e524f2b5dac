/** The levels of RFC 5424, by which clients say how much they want to hear; the least first. */
export const logLevels: readonly string[] = [
  ...['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'],
];

export function isLogLevel(level: unknown): level is string {
  return typeof level === 'string' && logLevels.includes(level);
}
