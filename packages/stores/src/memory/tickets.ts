import type { TicketKind, TicketStore } from '@behalf/gateway/ports';
import type { Tables } from './tables.ts';

export function createMemoryTickets({ tickets }: Tables): TicketStore {
  const open = (kind: TicketKind, hash: string, now: number) => {
    const ticket = tickets.get(hash);
    return ticket?.kind === kind && ticket.consumedAt === null && ticket.expiresAt > now ? ticket : null;
  };

  return {
    async issue(ticket) {
      for (const { hash, expiresAt } of [...tickets.values()]) {
        if (expiresAt <= ticket.createdAt) tickets.delete(hash);
      }
      tickets.set(ticket.hash, { ...ticket, consumedAt: null });
    },
    isConsumable: async (kind, hash, now) => open(kind, hash, now) !== null,
    async consume(kind, hash, now) {
      const ticket = open(kind, hash, now);
      if (!ticket) return false;
      tickets.set(hash, { ...ticket, consumedAt: now });
      return true;
    },
    async revokeAll(kind) {
      const gone = [...tickets.values()].filter((ticket: { kind: string }) => ticket.kind === kind);
      for (const { hash } of gone) tickets.delete(hash);
    },
  };
}
