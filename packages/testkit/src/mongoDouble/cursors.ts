import { Long } from 'bson';
import { ServerError } from './serverError.ts';
import type { Doc } from './values.ts';

/** Results that did not fit the first batch. */
export interface Cursors {
  /** The reply of a command that opens a cursor. */
  open(namespace: string, docs: readonly Doc[], batchSize: number | undefined, isSingleBatch: boolean): Doc;
  getMore(id: number, batchSize: number | undefined): Doc;
  kill(ids: readonly unknown[]): number[];
}

/** MongoDB's default for a first batch. */
const FIRST_BATCH = 101;

export function createCursors(): Cursors {
  const open = new Map<number, { namespace: string; rest: readonly Doc[] }>();
  let lastId = 1_000;

  return {
    open(namespace, docs, batchSize, single) {
      const size = batchSize ?? FIRST_BATCH;
      const rest = docs.slice(size);
      let id = 0;
      if (rest.length > 0 && !single) {
        lastId += 1;
        id = lastId;
        open.set(id, { namespace, rest });
      }
      return { ok: 1, cursor: { id: Long.fromNumber(id), ns: namespace, firstBatch: docs.slice(0, size) } };
    },
    getMore(id, batchSize) {
      const cursor = open.get(id);
      if (!cursor) throw new ServerError(43, 'CursorNotFound', `cursor id ${id} not found`);
      const size = batchSize ?? cursor.rest.length;
      const rest = cursor.rest.slice(size);
      if (rest.length > 0) open.set(id, { ...cursor, rest });
      else open.delete(id);
      const remainingId = Long.fromNumber(rest.length > 0 ? id : 0);
      return {
        ok: 1,
        cursor: { id: remainingId, ns: cursor.namespace, nextBatch: cursor.rest.slice(0, size) },
      };
    },
    kill: (ids) => ids.map(Number).filter((id) => open.delete(id)),
  };
}
