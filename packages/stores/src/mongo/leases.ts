import type { HeldLease, LeasePurpose, Leases, Random } from '@behalf/kernel';
import type { Gate } from './gate.ts';
import type { LeaseDoc, Models } from './models.ts';
import { fromNow, isAhead, literal } from './storeTime.ts';

export function createMongoLeases({ leases }: Models, gate: Gate, random: Random): Leases {
  const alive = isAhead('$expiresAt');
  const unless = (field: string, taken: object) => ({ $cond: [alive, field, taken] });

  function held(key: string, owner: string, purpose: LeasePurpose): HeldLease {
    const ours = { _id: key, owner, $expr: alive };
    return {
      key,
      owner,
      purpose,
      async extend(ttlMs) {
        const longer = [{ $set: { expiresAt: fromNow(ttlMs) } }];
        const done = await gate.run(() => leases.updateOne(ours, longer, { updatePipeline: true }).exec());
        return done.matchedCount === 1;
      },
      release: async () => (await gate.run(() => leases.deleteOne(ours).exec())).deletedCount === 1,
    };
  }

  return {
    async acquire(key, purpose, ttlMs) {
      const owner = random.id();
      // One command that leaves a live lease as it is and takes any other; the owner it gives back tells which.
      const take = [
        {
          $set: {
            owner: unless('$owner', literal(owner)),
            purpose: unless('$purpose', literal(purpose)),
            expiresAt: unless('$expiresAt', fromNow(ttlMs)),
          },
        },
      ];
      const after = await gate.runUpsert(() =>
        leases
          .findOneAndUpdate({ _id: key }, take, {
            upsert: true,
            returnDocument: 'after',
            updatePipeline: true,
          })
          .lean<LeaseDoc>()
          .orFail()
          .exec(),
      );
      return after.owner === owner ? held(key, owner, purpose) : null;
    },
    async holder(key) {
      const lease = await gate.run(() => leases.findOne({ _id: key, $expr: alive }).lean<LeaseDoc>().exec());
      return lease && { owner: lease.owner, purpose: lease.purpose };
    },
  };
}
