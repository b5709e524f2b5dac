import type { Log } from '@behalf/gateway';
import type { Logger } from './logger.ts';

/** What an operator should look at, of what the parts tell. */
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

/** Where the parts tell what happened: as a warning where somebody should look. */
export function createEventLog(logger: Logger): Log {
  return (event, fields) =>
    warningEvents.has(event) ? logger.warn(event, fields) : logger.info(event, fields);
}
