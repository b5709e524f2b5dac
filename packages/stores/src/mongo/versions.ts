import type { Model } from 'mongoose';
import type { Gate } from './gate.ts';

interface Versioned {
  tenant: string;
  version: number;
}

/** Replaces a document if it still has version `seen`, as one step for all processes. */
export async function replaceSeen(
  versioned: unknown,
  gate: Gate,
  { id, tenant, ...rest }: Versioned & { id: string },
  seen: number,
): Promise<'replaced' | 'version_conflict' | 'missing'> {
  // What every model of a versioned record has in common; its own fields are judged by its schema.
  const model = versioned as Model<Versioned & { _id: string }>;
  const done = await gate.run(() =>
    model.updateOne({ _id: id, tenant, version: seen }, { $set: rest }).exec(),
  );
  if (done.matchedCount === 1) return 'replaced';
  const there = await gate.run(() => model.exists({ _id: id, tenant }).exec());
  return there === null ? 'missing' : 'version_conflict';
}
