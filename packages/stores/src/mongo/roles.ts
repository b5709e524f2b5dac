import type { RoleStore } from '@behalf/gateway/ports';
import { recordOrNull, recordsOf } from './documents.ts';
import { isDuplicateKey } from './failures.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';
import { replaceSeen } from './versions.ts';

export function createMongoRoles({ roles }: Models, gate: Gate): RoleStore {
  return {
    list: async () => recordsOf('roles', await gate.run(() => roles.find({}).sort({ _id: 1 }).lean().exec())),
    find: async (tenant, name) =>
      recordOrNull('roles', await gate.run(() => roles.findOne({ tenant, name }).lean().exec())),
    async insert({ id, ...rest }) {
      try {
        await gate.run(() => roles.create([{ _id: id, ...rest }]));
        return 'inserted';
      } catch (error) {
        if (isDuplicateKey(error)) return 'taken';
        throw error;
      }
    },
    replace: (role, seen) => replaceSeen(roles, gate, role, seen),
    remove: async (tenant, name) =>
      (await gate.run(() => roles.deleteOne({ tenant, name }).exec())).deletedCount === 1,
  };
}
