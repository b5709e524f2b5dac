import type { TicketKind, TicketStore } from '@behalf/gateway/ports';
import type { Tables } from './tables.ts';

export function createMemoryTickets({ tickets }: Tables): TicketStore {
  const findOpenTicket = (kind: TicketKind, hash: string, now: number) => {
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
    isConsumable: async (kind, hash, now) => findOpenTicket(kind, hash, now) !== null,
    async consume(kind, hash, now) {
      const ticket = findOpenTicket(kind, hash, now);
      if (!ticket) return false;
      tickets.set(hash, { ...ticket, consumedAt: now });
      return true;
    },
    async revokeAll(kind) {
      const revokedTickets = [...tickets.values()].filter((ticket: { kind: string }) => ticket.kind === kind);
      for (const { hash } of revokedTickets) tickets.delete(hash);
    },
  };
}
