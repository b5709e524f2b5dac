import type { Log } from '@behalf/gateway';
import type { Logger } from './logger.ts';

/** What an operator should look at, of what the parts tell. */
const warningEvents: ReadonlySet<string> = new Set([
  'audit_row_forged',
  'audit_unavailable',
  'audit_unwritten',
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
  'vault.client_refused',
  'vault.lost_rotation',
  'vault.misconfigured',
  'vault.persist_failed',
  'vault.refresh_token_unusable',
  'vault.token_endpoint_gone',
]);

/** Where the parts tell what happened: as a warning where somebody should look. */
export function createEventLog(logger: Logger): Log {
  return (event, fields) =>
    warningEvents.has(event) ? logger.warn(event, fields) : logger.info(event, fields);
}
