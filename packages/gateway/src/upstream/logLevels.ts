/** As RFC 5424 has them, the most verbose first. */
const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** How grave a level is. What is none counts as the least: whoever wants less than everything does not hear it. */
export function getLevelRank(level: unknown): number {
  return Math.max(0, LOG_LEVELS.indexOf(String(level)));
}
