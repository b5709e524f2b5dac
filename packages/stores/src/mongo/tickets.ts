import type { TicketKind, TicketStore } from '@behalf/gateway/ports';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';
import { isAheadMs } from './storeTime.ts';

export function createMongoTickets({ tickets }: Models, gate: Gate): TicketStore {
  // Both clocks must agree that it is not over: a replica whose clock is behind gives nobody a second chance.
  const open = (kind: TicketKind, hash: string, now: number) => ({
    _id: hash,
    kind,
    consumedAt: null,
    expiresAt: { $gt: now },
    $expr: isAheadMs('$expiresAt'),
  });

  return {
    async issue({ hash, ...rest }) {
      await gate.run(() => tickets.create([{ _id: hash, ...rest, consumedAt: null }]));
      // Upkeep: what it leaves in an outage goes with the next one. Again both clocks: a replica whose clock is ahead
      // must not take away another's open link.
      const over = { expiresAt: { $lte: rest.createdAt }, $expr: { $not: [isAheadMs('$expiresAt')] } };
      await gate.run(() => tickets.deleteMany(over).exec()).catch(() => undefined);
    },
    isOpen: async (kind, hash, now) =>
      (await gate.run(() => tickets.exists(open(kind, hash, now)).exec())) !== null,
    async consume(kind, hash, now) {
      const taken = await gate.run(() =>
        tickets.updateOne(open(kind, hash, now), { $set: { consumedAt: now } }).exec(),
      );
      return taken.matchedCount === 1;
    },
    async revokeAll(kind) {
      await gate.run(() => tickets.deleteMany({ kind }).exec());
    },
  };
}
