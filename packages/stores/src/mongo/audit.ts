import type { AuditStore } from '@behalf/gateway/ports';
import { toRecords } from './documents.ts';
import type { CommandRunner } from './connection.ts';
import type { Models } from './models.ts';

interface WriterRow {
  _id: string;
  first: number;
  last: number;
  segments: number;
}

export function createMongoAudit({ audit }: Models, runner: CommandRunner): AuditStore {
  return {
    async append({ id, ...rest }) {
      await runner.run(() => audit.create([{ _id: id, ...rest }]));
    },
    async page({ from, to, after }, limit) {
      const filter = {
        ...(from === undefined ? {} : { lastAt: { $gte: from } }),
        ...(to === undefined ? {} : { firstAt: { $lte: to } }),
        ...(after === undefined
          ? {}
          : { $or: [{ lastAt: { $lt: after.lastAt } }, { lastAt: after.lastAt, _id: { $lt: after.id } }] }),
      };
      const docs = await runner.run(() =>
        audit.find(filter).sort({ lastAt: -1, _id: -1 }).limit(limit).lean().exec(),
      );
      return toRecords('audit', docs);
    },
    async listByWriter(writer, seq, limit) {
      const docs = await runner.run(() =>
        audit
          .find({ writer, seq: { $gte: seq } })
          .sort({ seq: 1 })
          .limit(limit)
          .lean()
          .exec(),
      );
      return toRecords('audit', docs);
    },
    async listWriters() {
      const aggregates = { first: { $min: '$seq' }, last: { $max: '$seq' }, segments: { $sum: 1 } };
      const rows = await runner.run(() =>
        audit
          .aggregate<WriterRow>([{ $group: { _id: '$writer', ...aggregates } }, { $sort: { _id: 1 } }])
          .exec(),
      );
      return rows.map(({ _id, ...rest }) => ({ writer: _id, ...rest }));
    },
    removeBefore: async (before) =>
      (await runner.run(() => audit.deleteMany({ lastAt: { $lt: before } }).exec())).deletedCount,
  };
}
