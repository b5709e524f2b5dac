import type { HeldLease, LeasePurpose, Leases, Random } from '@behalf/kernel';
import type { CommandRunner } from './commandRunner.ts';
import type { LeaseDoc, Models } from './models.ts';
import { fromNow, buildInFutureExpression, literal } from './storeTime.ts';

export function createMongoLeases({ leases }: Models, runner: CommandRunner, random: Random): Leases {
  const isActive = buildInFutureExpression('$expiresAt');
  const keepIfActive = (field: string, newValue: object) => ({ $cond: [isActive, field, newValue] });

  function createHeldLease(key: string, owner: string, purpose: LeasePurpose): HeldLease {
    const filter = { _id: key, owner, $expr: isActive };
    return {
      key,
      owner,
      purpose,
      async extend(ttlMs) {
        const update = [{ $set: { expiresAt: fromNow(ttlMs) } }];
        const result = await runner.run(() =>
          leases.updateOne(filter, update, { updatePipeline: true }).exec(),
        );
        return result.matchedCount === 1;
      },
      release: async () => (await runner.run(() => leases.deleteOne(filter).exec())).deletedCount === 1,
    };
  }

  return {
    async acquire(key, purpose, ttlMs) {
      const owner = random.id();
      // One command that leaves a live lease as it is and takes any other; the owner it gives back tells which.
      const update = [
        {
          $set: {
            owner: keepIfActive('$owner', literal(owner)),
            purpose: keepIfActive('$purpose', literal(purpose)),
            expiresAt: keepIfActive('$expiresAt', fromNow(ttlMs)),
          },
        },
      ];
      const after = await runner.runUpsert(() =>
        leases
          .findOneAndUpdate({ _id: key }, update, {
            upsert: true,
            returnDocument: 'after',
            updatePipeline: true,
          })
          .lean<LeaseDoc>()
          .orFail()
          .exec(),
      );
      return after.owner === owner ? createHeldLease(key, owner, purpose) : null;
    },
    async findHolder(key) {
      const lease = await runner.run(() =>
        leases.findOne({ _id: key, $expr: isActive }).lean<LeaseDoc>().exec(),
      );
      return lease && { owner: lease.owner, purpose: lease.purpose };
    },
  };
}
