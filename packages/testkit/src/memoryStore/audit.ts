import type { AuditSegmentRecord, AuditStore } from '@behalf/gateway/ports';
import { type Tables, assertUnique, compareBy, copyAll, removeWhere } from './tables.ts';

export function createMemoryAudit({ audit }: Tables): AuditStore {
  const oldestFirst = compareBy<Pick<AuditSegmentRecord, 'lastAt' | 'id'>>(
    ({ lastAt }) => lastAt,
    ({ id }) => id,
  );

  return {
    async append(segment) {
      if (audit.has(segment.id)) throw new Error('An audit segment with this id already exists');
      assertUnique(audit, segment, 'writer', 'seq');
      audit.set(segment.id, { ...segment });
    },
    async page({ from = -Infinity, to = Infinity, after }, limit) {
      const found = [...audit.values()]
        .filter(({ firstAt, lastAt }) => lastAt >= from && firstAt <= to)
        .filter((segment) => after === undefined || oldestFirst(segment, after) < 0)
        .sort((a, b) => oldestFirst(b, a));
      return copyAll(found.slice(0, limit));
    },
    async listByWriter(writer, seq, limit) {
      const found = [...audit.values()]
        .filter((segment) => segment.writer === writer && segment.seq >= seq)
        .sort(compareBy((segment) => segment.seq));
      return copyAll(found.slice(0, limit));
    },
    async listWriters() {
      const names = [...new Set([...audit.values()].map(({ writer }) => writer))].sort();
      return names.map((writer) => {
        const seqs = [...audit.values()].filter((segment) => segment.writer === writer).map(({ seq }) => seq);
        return { writer, first: Math.min(...seqs), last: Math.max(...seqs), segments: seqs.length };
      });
    },
    removeBefore: async (before) => removeWhere(audit, ({ lastAt }) => lastAt < before),
  };
}
