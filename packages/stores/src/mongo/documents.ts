import { type CollectionName, type Collections, collectionShapes } from '@behalf/gateway/ports';
import type { Model } from 'mongoose';
import type { CommandRunner } from './connection.ts';

type Fields = Record<string, unknown>;

/** `isFirst` exists only in MongoDB; see accounts.ts. */
export function toRecord<N extends CollectionName>(name: N, doc: object): Collections[N] {
  const { _id, isFirst: _isFirst, ...fields } = doc as Fields;
  const { key } = collectionShapes[name];
  return { [key]: _id, ...fields } as unknown as Collections[N];
}

export function toRecords<N extends CollectionName>(name: N, docs: readonly object[]): Collections[N][] {
  return docs.map((doc) => toRecord(name, doc));
}

export function toRecordOrNull<N extends CollectionName>(name: N, doc: object | null): Collections[N] | null {
  return doc && toRecord(name, doc);
}

interface Versioned {
  tenant: string;
  version: number;
}

/** Replaces a document if it still has the version `expectedVersion`, in one atomic command. */
export async function replaceIfVersion(
  anyModel: unknown,
  runner: CommandRunner,
  { id, tenant, ...rest }: Versioned & { id: string },
  expectedVersion: number,
): Promise<'replaced' | 'version_conflict' | 'missing'> {
  // The model is used only for the fields that all versioned records share. Each schema validates its own
  // fields.
  const model = anyModel as Model<Versioned & { _id: string }>;
  const result = await runner.run(() =>
    model.updateOne({ _id: id, tenant, version: expectedVersion }, { $set: rest }).exec(),
  );
  if (result.matchedCount === 1) return 'replaced';
  const existing = await runner.run(() => model.exists({ _id: id, tenant }).exec());
  return existing === null ? 'missing' : 'version_conflict';
}
