import type { TicketKind, TicketStore } from '@behalf/gateway/ports';
import type { CommandRunner } from './commandRunner.ts';
import type { Models } from './models.ts';
import { buildInFutureMsExpression } from './storeTime.ts';

export function createMongoTickets({ tickets }: Models, runner: CommandRunner): TicketStore {
  // Both clocks must agree that it is not over: a replica whose clock is behind gives nobody a second chance.
  const buildConsumableFilter = (kind: TicketKind, hash: string, now: number) => ({
    _id: hash,
    kind,
    consumedAt: null,
    expiresAt: { $gt: now },
    $expr: buildInFutureMsExpression('$expiresAt'),
  });

  return {
    async issue({ hash, ...rest }) {
      await runner.run(() => tickets.create([{ _id: hash, ...rest, consumedAt: null }]));
      // Upkeep: what it leaves in an outage goes with the next one. Again both clocks: a replica whose clock is ahead
      // must not take away another's open link.
      const expiredFilter = {
        expiresAt: { $lte: rest.createdAt },
        $expr: { $not: [buildInFutureMsExpression('$expiresAt')] },
      };
      await runner.run(() => tickets.deleteMany(expiredFilter).exec()).catch(() => undefined);
    },
    isConsumable: async (kind, hash, now) =>
      (await runner.run(() => tickets.exists(buildConsumableFilter(kind, hash, now)).exec())) !== null,
    async consume(kind, hash, now) {
      const result = await runner.run(() =>
        tickets.updateOne(buildConsumableFilter(kind, hash, now), { $set: { consumedAt: now } }).exec(),
      );
      return result.matchedCount === 1;
    },
    async revokeAll(kind) {
      await runner.run(() => tickets.deleteMany({ kind }).exec());
    },
  };
}
