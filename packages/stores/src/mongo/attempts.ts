import type { AttemptCounter } from '@behalf/gateway/ports';
import type { Gate } from './gate.ts';
import type { AttemptDoc, Models } from './models.ts';
import { fromNow, isAhead } from './storeTime.ts';

export function createMongoAttempts({ attempts }: Models, gate: Gate): AttemptCounter {
  const running = isAhead('$resetAt');

  return {
    async hit(key, windowMs) {
      const count = [
        {
          $set: {
            count: { $cond: [running, { $add: ['$count', 1] }, 1] },
            resetAt: { $cond: [running, '$resetAt', fromNow(windowMs)] },
          },
        },
      ];
      const after = await gate.runUpsert(() =>
        attempts
          .findOneAndUpdate({ _id: key }, count, {
            upsert: true,
            returnDocument: 'after',
            updatePipeline: true,
          })
          .lean<AttemptDoc>()
          .orFail()
          .exec(),
      );
      return { count: after.count, resetAt: after.resetAt.getTime() };
    },
    async clear(key) {
      await gate.run(() => attempts.deleteOne({ _id: key }).exec());
    },
  };
}
