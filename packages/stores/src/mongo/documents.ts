import { collectionShapes, type CollectionName, type Collections } from '@behalf/gateway/ports';

type Fields = Record<string, unknown>;

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
