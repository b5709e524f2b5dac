import type { PrimaryStore, TicketRecord } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

function aTicket(overrides: Partial<TicketRecord> = {}): TicketRecord {
  return { hash: 't1', kind: 'setup', createdAt: 1_000, expiresAt: 9e12, ...overrides };
}

export function ticketsSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`TicketStore on ${label}`, () => {
    const store = useStore(open);

    test('of 20 parallel consumers, one succeeds', async () => {
      await store().tickets.issue(aTicket());
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () => store().tickets.consume('setup', 't1', 2_000)),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await store().tickets.isConsumable('setup', 't1', 2_000)).toBe(false);
    });

    test('an expired ticket is neither open nor consumed', async () => {
      await store().tickets.issue(aTicket());
      expect(await store().tickets.isConsumable('setup', 't1', 9e12 - 1)).toBe(true);
      expect(await store().tickets.isConsumable('setup', 't1', 9e12)).toBe(false);
      expect(await store().tickets.consume('setup', 't1', 9e12)).toBe(false);
      expect(await store().tickets.consume('setup', 'unknown', 0)).toBe(false);
    });

    test('what had expired goes when the next one is issued', async () => {
      await store().tickets.issue(aTicket({ hash: 'over', expiresAt: 2_000 }));
      await store().tickets.issue(aTicket({ hash: 'open' }));
      expect(await store().raw.count('tickets')).toBe(2);
      await store().tickets.issue(aTicket({ hash: 'new', createdAt: 2_000 }));
      const remaining = await store().raw.page('tickets', null, 10);
      expect(remaining.map(({ hash }) => hash)).toEqual(['new', 'open']);
    });

    test('revoking a kind ends its open tickets', async () => {
      await store().tickets.issue(aTicket());
      await store().tickets.issue(aTicket({ hash: 't2' }));
      await store().tickets.revokeAll('setup');
      expect(await store().tickets.consume('setup', 't1', 2_000)).toBe(false);
      expect(await store().tickets.consume('setup', 't2', 2_000)).toBe(false);
    });
  });
}
