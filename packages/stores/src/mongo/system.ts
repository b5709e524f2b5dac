import { KEY_CHECK, type SystemStore } from '@behalf/gateway/ports';
import { ensureState } from './format.ts';
import type { Gate } from './gate.ts';
import { STATE_ID, type Models, type StateDoc, type SystemDoc } from './models.ts';
import { fromNow, isAhead, literal } from './storeTime.ts';

/** Writers, maintenance and the mark of half a copy stand in one document: each excludes the other in one atomic change. */
export async function createMongoSystem(
  models: Models,
  gate: Gate,
  ensureIndexes: () => Promise<void>,
): Promise<SystemStore> {
  const { system, storeState } = models;
  const alive = { $filter: { input: '$writers', as: 'writer', cond: isAhead('$$writer.expiresAt') } };
  const inMaintenance = isAhead('$maintenance.expiresAt');
  const halfACopy = { $gt: ['$copySource', null] };

  /** Applies `change` if `allowed` holds, as one step, and gives what came of it; null when it did not hold. */
  const changeIf = async (allowed: object, change: object): Promise<StateDoc | null> => {
    const attempt = () =>
      gate.run(() =>
        storeState
          .findOneAndUpdate({ _id: STATE_ID, $expr: allowed }, [{ $set: change }], {
            returnDocument: 'after',
            updatePipeline: true,
          })
          .lean<StateDoc>()
          .exec(),
      );
    const changed = await attempt();
    if (changed !== null) return changed;
    if ((await gate.run(() => storeState.exists({ _id: STATE_ID }).exec())) !== null) return null;
    // Somebody emptied the database under a running gateway, and with it went the indexes that decide who wins.
    await ensureIndexes();
    await ensureState(models, gate);
    return attempt();
  };

  return {
    async getOrCreateKeyCheck(candidate) {
      const options = { upsert: true, returnDocument: 'after' } as const;
      const doc = await gate.runUpsert(() =>
        system
          .findOneAndUpdate({ _id: KEY_CHECK }, { $setOnInsert: { value: candidate } }, options)
          .lean<SystemDoc>()
          .orFail()
          .exec(),
      );
      return doc.value;
    },
    async heartbeat(writer, ttlMs) {
      const others = {
        $filter: { input: alive, as: 'writer', cond: { $ne: ['$$writer.id', literal(writer)] } },
      };
      const writers = { $concatArrays: [others, [{ id: literal(writer), expiresAt: fromNow(ttlMs) }]] };
      const open = { $not: [{ $or: [inMaintenance, halfACopy] }] };
      return (await changeIf(open, { writers })) !== null ? 'announced' : 'in_maintenance';
    },
    async removeWriter(writer) {
      await gate.run(() =>
        storeState.updateOne({ _id: STATE_ID }, { $pull: { writers: { id: writer } } }).exec(),
      );
    },
    async beginMaintenance(owner, ttlMs) {
      const nobodyWrites = { $eq: [{ $size: alive }, 0] };
      const nobodyElse = {
        $or: [{ $not: [inMaintenance] }, { $eq: ['$maintenance.owner', literal(owner)] }],
      };
      // Whether it was held until now, only the server's clock can say.
      const isExtension = { $and: [inMaintenance] };
      const maintenance = { owner: literal(owner), expiresAt: fromNow(ttlMs), isExtension };
      const after = await changeIf({ $and: [nobodyWrites, nobodyElse] }, { maintenance });
      if (after === null) return 'refused';
      return after.maintenance?.isExtension === true ? 'prolonged' : 'begun';
    },
    async endMaintenance(owner) {
      const ours = { _id: STATE_ID, 'maintenance.owner': owner };
      await gate.run(() => storeState.updateOne(ours, { $unset: { maintenance: 1 } }).exec());
    },
    async getOrCreateIdentity(candidate) {
      await ensureState(models, gate);
      const named = [{ $set: { identity: { $ifNull: ['$identity', literal(candidate)] } } }];
      const doc = await gate.run(() =>
        storeState
          .findOneAndUpdate({ _id: STATE_ID }, named, { returnDocument: 'after', updatePipeline: true })
          .lean<StateDoc>()
          .orFail()
          .exec(),
      );
      return doc.identity ?? candidate;
    },
    async getCopySource() {
      const doc = await gate.run(() => storeState.findOne({ _id: STATE_ID }).lean<StateDoc>().exec());
      return doc?.copySource ?? null;
    },
    async setCopySource(source) {
      await ensureState(models, gate);
      const change = source === null ? { $unset: { copySource: 1 } } : { $set: { copySource: source } };
      await gate.run(() => storeState.updateOne({ _id: STATE_ID }, change).exec());
    },
  };
}
