import type { Model } from 'mongoose';
import type { CommandRunner } from './commandRunner.ts';

interface Versioned {
  tenant: string;
  version: number;
}

/** Replaces a document if it still has version `seen`, as one step for all processes. */
export async function replaceIfVersion(
  anyModel: unknown,
  runner: CommandRunner,
  { id, tenant, ...rest }: Versioned & { id: string },
  expectedVersion: number,
): Promise<'replaced' | 'version_conflict' | 'missing'> {
  // What every model of a versioned record has in common; its own fields are judged by its schema.
  const model = anyModel as Model<Versioned & { _id: string }>;
  const result = await runner.run(() =>
    model.updateOne({ _id: id, tenant, version: expectedVersion }, { $set: rest }).exec(),
  );
  if (result.matchedCount === 1) return 'replaced';
  const existing = await runner.run(() => model.exists({ _id: id, tenant }).exec());
  return existing === null ? 'missing' : 'version_conflict';
}
