import type { AclStore } from '@behalf/gateway/ports';
import type { AclDoc } from './accessSchemas.ts';
import { recordsOf } from './documents.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';

export function createMongoAcl({ acl }: Models, gate: Gate): AclStore {
  const list = async (filter: Partial<AclDoc>) =>
    recordsOf('acl', await gate.run(() => acl.find(filter).sort({ _id: 1 }).lean().exec()));
  const removeWhere = async (filter: Partial<AclDoc>) =>
    (await gate.run(() => acl.deleteMany(filter).exec())).deletedCount;

  return {
    list: () => list({}),
    listByServer: (tenant, serverId) => list({ tenant, serverId }),
    async change({ put, remove }) {
      const gone = new Set(remove);
      const kept = put.filter(({ id }) => !gone.has(id));
      if (gone.size + kept.length === 0) return;
      // One after the other: a MongoDB that is no replica set has no transactions. What an outage cuts short has taken
      // access away and not yet given any, and is sent again: a repeated write changes nothing.
      const writes = [
        ...[...gone].map((_id) => ({ deleteOne: { filter: { _id } } })),
        ...kept.map(({ id, ...rest }) => ({
          replaceOne: { filter: { _id: id }, replacement: { _id: id, ...rest }, upsert: true },
        })),
      ];
      await gate.runUpsert(() => acl.bulkWrite(writes, { ordered: true }));
    },
    removeByServer: (tenant, serverId) => removeWhere({ tenant, serverId }),
    removeByPrincipal: (tenant, type, principalId) =>
      removeWhere({ tenant, principalType: type, principalId }),
  };
}
