import { type CollectionName, KEY_CHECK, type SystemStore, collectionNames } from '@behalf/gateway/ports';
import type { Model } from 'mongoose';
import { STORAGE_FORMAT, assertStorageFormat } from '../storageFormat.ts';
import type { CommandRunner } from './connection.ts';
import { type Models, STATE_ID, type StoreStateDoc, type SystemDoc } from './models.ts';
import { buildInFutureExpression, fromNow, literal } from './storeTime.ts';

/**
 * Writers, maintenance and the mark of an unfinished copy are in one document, so one atomic update can exclude
 * the others.
 */
export async function createMongoSystem(
  models: Models,
  runner: CommandRunner,
  ensureIndexes: () => Promise<void>,
): Promise<SystemStore> {
  const { system, storeState } = models;
  const activeWriters = {
    $filter: { input: '$writers', as: 'writer', cond: buildInFutureExpression('$$writer.expiresAt') },
  };
  const inMaintenance = buildInFutureExpression('$maintenance.expiresAt');
  const isUnfinishedCopy = { $gt: ['$copySource', null] };

  /**
   * Applies `fields` if `condition` holds, in one command. Returns the new document, or null if the condition
   * does not hold.
   */
  const changeIf = async (condition: object, fields: object): Promise<StoreStateDoc | null> => {
    const tryUpdate = () =>
      runner.run(() =>
        storeState
          .findOneAndUpdate({ _id: STATE_ID, $expr: condition }, [{ $set: fields }], {
            returnDocument: 'after',
            updatePipeline: true,
          })
          .lean<StoreStateDoc>()
          .exec(),
      );
    const updated = await tryUpdate();
    if (updated !== null) return updated;
    if ((await runner.run(() => storeState.exists({ _id: STATE_ID }).exec())) !== null) return null;
    // An operator emptied the database of a running gateway, which also removed the indexes that decide
    // conflicts.
    await ensureIndexes();
    await ensureState(models, runner);
    return tryUpdate();
  };

  return {
    async getOrCreateKeyCheck(candidate) {
      const options = { upsert: true, returnDocument: 'after' } as const;
      const doc = await runner.runUpsert(() =>
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
        $filter: { input: activeWriters, as: 'writer', cond: { $ne: ['$$writer.id', literal(writer)] } },
      };
      const writers = { $concatArrays: [others, [{ id: literal(writer), expiresAt: fromNow(ttlMs) }]] };
      const isOpen = { $not: [{ $or: [inMaintenance, isUnfinishedCopy] }] };
      return (await changeIf(isOpen, { writers })) !== null ? 'announced' : 'in_maintenance';
    },
    async removeWriter(writer) {
      await runner.run(() =>
        storeState.updateOne({ _id: STATE_ID }, { $pull: { writers: { id: writer } } }).exec(),
      );
    },
    async beginMaintenance(owner, ttlMs) {
      const hasNoWriters = { $eq: [{ $size: activeWriters }, 0] };
      const isFreeOrOwn = {
        $or: [{ $not: [inMaintenance] }, { $eq: ['$maintenance.owner', literal(owner)] }],
      };
      // Only the clock of the server can tell whether the lease was held until now.
      const isExtension = { $and: [inMaintenance] };
      const maintenance = { owner: literal(owner), expiresAt: fromNow(ttlMs), isExtension };
      const after = await changeIf({ $and: [hasNoWriters, isFreeOrOwn] }, { maintenance });
      if (after === null) return 'refused';
      return after.maintenance?.isExtension === true ? 'prolonged' : 'begun';
    },
    async endMaintenance(owner) {
      const filter = { _id: STATE_ID, 'maintenance.owner': owner };
      await runner.run(() => storeState.updateOne(filter, { $unset: { maintenance: 1 } }).exec());
    },
    async getOrCreateIdentity(candidate) {
      await ensureState(models, runner);
      const update = [{ $set: { identity: { $ifNull: ['$identity', literal(candidate)] } } }];
      const doc = await runner.run(() =>
        storeState
          .findOneAndUpdate({ _id: STATE_ID }, update, { returnDocument: 'after', updatePipeline: true })
          .lean<StoreStateDoc>()
          .orFail()
          .exec(),
      );
      return doc.identity ?? candidate;
    },
    async getCopySource() {
      const doc = await runner.run(() => storeState.findOne({ _id: STATE_ID }).lean<StoreStateDoc>().exec());
      return doc?.copySource ?? null;
    },
    async setCopySource(source) {
      await ensureState(models, runner);
      const update = source === null ? { $unset: { copySource: 1 } } : { $set: { copySource: source } };
      await runner.run(() => storeState.updateOne({ _id: STATE_ID }, update).exec());
    },
  };
}

/**
 * Gives an empty database the format number. Refuses a database of another format, or with records but no
 * format number.
 */
export async function ensureFormat(models: Models, runner: CommandRunner, database: string): Promise<void> {
  const label = {
    subject: `The MongoDB database "${database}"`,
    remedy: 'Set MONGO_URI to an empty database.',
  };
  const find = () => runner.run(() => models.storeState.findById(STATE_ID).lean<StoreStateDoc>().exec());
  let state = await find();
  if (state === null && (await holdsRecords(models, runner))) {
    // A replica that starts at the same time writes the state document before any record, so a second read
    // finds it.
    state = await find();
  } else if (state === null) {
    await ensureState(models, runner);
    state = await find();
  }
  assertStorageFormat(state?.format ?? null, label);
}

/** One upsert by `_id`: one replica inserts the document, the others leave it unchanged. */
async function ensureState({ storeState }: Models, runner: CommandRunner): Promise<void> {
  const initial = { $setOnInsert: { format: STORAGE_FORMAT, writers: [] } };
  await runner.runUpsert(() => storeState.updateOne({ _id: STATE_ID }, initial, { upsert: true }).exec());
}

async function holdsRecords(models: Models, runner: CommandRunner): Promise<boolean> {
  const modelOf = (name: CollectionName) => models[name] as unknown as Model<{ _id: string }>;
  for (const name of collectionNames) {
    if ((await runner.run(() => modelOf(name).exists({}).exec())) !== null) return true;
  }
  return false;
}
