import { collectionNames, type CollectionName } from '@behalf/gateway/ports';
import type { Model } from 'mongoose';
import { assertStorageFormat, STORAGE_FORMAT } from '../storageFormat.ts';
import type { CommandRunner } from './commandRunner.ts';
import { STATE_ID, type Models, type StoreStateDoc } from './models.ts';

/** Gives an empty database the format number, and refuses one of another format or with records and no number. */
export async function ensureFormat(models: Models, runner: CommandRunner, database: string): Promise<void> {
  const label = {
    subject: `The MongoDB database "${database}"`,
    remedy: 'Set MONGO_URI to an empty database.',
  };
  const find = () => runner.run(() => models.storeState.findById(STATE_ID).lean<StoreStateDoc>().exec());
  let state = await find();
  if (state === null && (await holdsRecords(models, runner))) {
    // A replica that starts at the same time writes records only after the state document: a second read finds it.
    state = await find();
  } else if (state === null) {
    await ensureState(models, runner);
    state = await find();
  }
  assertStorageFormat(state?.format ?? null, label);
}

/** One upsert by `_id`: of several replicas one inserts the document, and the others leave it as it is. */
export async function ensureState({ storeState }: Models, runner: CommandRunner): Promise<void> {
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
