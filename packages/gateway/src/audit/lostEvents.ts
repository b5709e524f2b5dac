import { DEFAULT_TENANT } from '../identity/accounts.ts';
import type { AuditEvent } from './audit.ts';

const MINUTE_MS = 60_000;
/** Minutes of tenants that are told apart; what comes on top is counted together. */
const MAX_LOST_ENTRIES = 1_000;

export interface LostEvents {
  /** Whatever was lost: it may be no event at all. */
  count(tenant: unknown, at: number): void;
  /** What is to be written of them, once: an event per tenant and minute. */
  drain(): AuditEvent[];
  /** Since the start. */
  readonly total: number;
}

/** What could not be written at least has a number: each tenant's own, so that none learns of another's. */
export function createLostEvents(): LostEvents {
  let lost = new Map<string, { readonly tenant: string; readonly minute: number; count: number }>();
  let total = 0;

  return {
    get total() {
      return total;
    },
    count(eventTenant, at) {
      total += 1;
      const tenant = typeof eventTenant === 'string' ? eventTenant : DEFAULT_TENANT;
      const minute = at - (at % MINUTE_MS);
      const key = JSON.stringify([tenant, minute]);
      const entry = lost.get(key);
      if (entry) entry.count += 1;
      else if (lost.size < MAX_LOST_ENTRIES) lost.set(key, { tenant, minute, count: 1 });
      else {
        const overflow = lost.get('rest') ?? { tenant: DEFAULT_TENANT, minute, count: 0 };
        overflow.count += 1;
        lost.set('rest', overflow);
      }
    },
    drain() {
      const entries = [...lost.values()];
      lost = new Map();
      return entries.map(({ tenant, minute, count }) => ({
        kind: 'audit',
        action: 'audit.lost',
        tenant,
        actor: { kind: 'gateway', id: '' },
        door: 'gateway',
        outcome: 'failed',
        // The minute, in milliseconds since the epoch.
        subject: String(minute),
        count,
      }));
    },
  };
}
