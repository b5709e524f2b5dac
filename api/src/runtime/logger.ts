import type { Log } from '@behalf/gateway';
import type { Redactor } from '@behalf/kernel';
import { createLogger as createWinston, format, transports } from 'winston';

/** A log with one event per line and structured fields. */
export interface Logger {
  error(event: string, fields?: object): void;
  warn(event: string, fields?: object): void;
  info(event: string, fields?: object): void;
  debug(event: string, fields?: object): void;
}

const COLORS: Record<string, string> = {
  error: '\u001b[31m',
  warn: '\u001b[33m',
  info: '\u001b[36m',
  debug: '\u001b[90m',
};
const RESET = '\u001b[0m';

/** Colored text on a terminal, otherwise JSON. Every line passes the redactor. */
export function createLogger(parts: { level: string; pretty: boolean; redactor: () => Redactor }): Logger {
  const { level, pretty, redactor } = parts;
  const line = format.printf(({ level: name, message, timestamp, ...fields }) => {
    const event = redactor().text(oneLine(String(message)));
    const extra = redactor().value(fields) as Record<string, unknown>;
    if (!pretty) return JSON.stringify({ time: timestamp, level: name, event, ...extra });
    const clock = String(timestamp).slice(11, 19);
    const rest = Object.entries(extra).map(([key, value]) => ` ${key}=${printable(value)}`);
    return `${clock} ${COLORS[name] ?? ''}${name.padEnd(5)}${RESET} ${event}${rest.join('')}`;
  });
  const winston = createWinston({
    level,
    format: format.combine(format.timestamp(), line),
    transports: [new transports.Console({ stderrLevels: ['error', 'warn'] })],
  });
  return {
    error: (event, fields = {}) => void winston.error(event, fields),
    warn: (event, fields = {}) => void winston.warn(event, fields),
    info: (event, fields = {}) => void winston.info(event, fields),
    debug: (event, fields = {}) => void winston.debug(event, fields),
  };
}

/** Replaces control characters: logged values could otherwise forge log lines or change terminal colors (log injection). */
function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}

function printable(value: unknown): string {
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Events of the gateway package that are logged as warnings. */
const warningEvents: ReadonlySet<string> = new Set([
  'audit_segment_conflict',
  'audit_unavailable',
  'audit_events_lost',
  'block_unreadable',
  'authorization_server_failed',
  'obo_author_expired',
  'obo_author_expiring',
  'obo_exchange_failed',
  'override_unreadable',
  'run_unreadable',
  'set_unreadable',
  'store_unreachable',
  'stored_server_unreadable',
  'vault_client_refused',
  'vault_lost_rotation',
  'vault_misconfigured',
  'vault_persist_failed',
  'vault_refresh_token_unusable',
  'vault_token_endpoint_not_found',
]);

/** The log of the gateway package. */
export function createEventLog(logger: Logger): Log {
  return (event, fields) =>
    warningEvents.has(event) ? logger.warn(event, fields) : logger.info(event, fields);
}
