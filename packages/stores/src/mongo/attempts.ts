import type { AttemptCounter } from '@behalf/gateway/ports';
import type { CommandRunner } from './commandRunner.ts';
import type { AttemptDoc, Models } from './models.ts';
import { fromNow, buildInFutureExpression } from './storeTime.ts';

export function createMongoAttempts({ attempts }: Models, runner: CommandRunner): AttemptCounter {
  const isActive = buildInFutureExpression('$resetAt');

  return {
    async hit(key, windowMs) {
      const update = [
        {
          $set: {
            count: { $cond: [isActive, { $add: ['$count', 1] }, 1] },
            resetAt: { $cond: [isActive, '$resetAt', fromNow(windowMs)] },
          },
        },
      ];
      const after = await runner.runUpsert(() =>
        attempts
          .findOneAndUpdate({ _id: key }, update, {
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
      await runner.run(() => attempts.deleteOne({ _id: key }).exec());
    },
  };
}
