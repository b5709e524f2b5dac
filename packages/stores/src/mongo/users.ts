import type { UserRecord, UserStore } from '@behalf/gateway/ports';
import type { QueryFilter } from 'mongoose';
import { userChange } from '../userChange.ts';
import { recordOrNull, recordsOf } from './documents.ts';
import { isDuplicateKey, isDuplicateOf } from './failures.ts';
import type { Gate } from './gate.ts';
import { literalPattern } from './literalPattern.ts';
import type { Models, UserDoc } from './models.ts';

/**
 * "First" must be one step for all processes, and MongoDB changes one document atomically, not "a collection that is
 * empty". So the first document of a store carries `isFirst: true`, and a partial unique index allows that once. Whoever
 * may be writing into an empty store - `insertFirst`, and `insert` until it has seen a marked document - tries with the
 * mark, and the index picks one. There is no lock or sentinel beside the user, so a crash leaves nothing half done.
 * A store filled by a copy has no mark, but it has users, and `insertFirst` looks for those before it tries.
 */
export function createMongoUsers({ users }: Models, gate: Gate): UserStore {
  let someoneIsFirst = false;

  const create = (user: UserRecord, first: boolean) =>
    gate.run(() => users.create([{ ...toUserDoc(user), ...(first ? { isFirst: true as const } : {}) }]));

  async function insertMarked(user: UserRecord): Promise<'inserted' | 'taken' | 'not_first'> {
    try {
      await create(user, true);
      return 'inserted';
    } catch (error) {
      if (isDuplicateOf(error, 'isFirst')) return 'not_first';
      if (isDuplicateKey(error)) return 'taken';
      throw error;
    }
  }

  return {
    async insert(user) {
      someoneIsFirst ||= (await gate.run(() => users.exists({ isFirst: true }).exec())) !== null;
      if (!someoneIsFirst) {
        const outcome = await insertMarked(user);
        if (outcome !== 'not_first') return outcome;
        someoneIsFirst = true;
      }
      try {
        await create(user, false);
        return 'inserted';
      } catch (error) {
        if (isDuplicateKey(error)) return 'taken';
        throw error;
      }
    },
    async insertFirst(user) {
      if ((await gate.run(() => users.exists({}).exec())) !== null) return 'not_first';
      return (await insertMarked(user)) === 'inserted' ? 'inserted' : 'not_first';
    },
    findById: async (id) => recordOrNull('users', await gate.run(() => users.findById(id).lean().exec())),
    async findMany(ids) {
      const docs = await gate.run(() =>
        users
          .find({ _id: { $in: [...ids] } })
          .lean()
          .exec(),
      );
      return recordsOf('users', docs);
    },
    findByIdentity: async (tenant, issuer, subject) =>
      recordOrNull('users', await gate.run(() => users.findOne({ tenant, issuer, subject }).lean().exec())),
    async update(id, change, at, { role, roleSource } = {}) {
      const expected = {
        _id: id,
        ...(role === undefined ? {} : { role }),
        ...(roleSource === undefined ? {} : { roleSource }),
      } as QueryFilter<UserDoc>;
      const done = await gate.run(() => users.updateOne(expected, { $set: userChange(change, at) }).exec());
      return done.matchedCount === 1;
    },
    async list(tenant, { after, limit, search = '' }) {
      const part = { $regex: literalPattern(search), $options: 'i' };
      const found = {
        tenant,
        ...(after === null ? {} : { _id: { $gt: after } }),
        ...(search === '' ? {} : { $or: [{ email: part }, { name: part }] }),
      };
      const docs = await gate.run(() => users.find(found).sort({ _id: 1 }).limit(limit).lean().exec());
      return recordsOf('users', docs);
    },
    countWithRole: (tenant, role) =>
      gate.run(() => users.countDocuments({ tenant, role, disabledAt: null }).exec()),
    async listSignedOutSince(at) {
      const docs = await gate.run(() =>
        users
          .find({ signedOutAt: { $gte: at } }, { tenant: 1, signedOutAt: 1 })
          .lean()
          .exec(),
      );
      return docs.map(({ _id, tenant, signedOutAt }) => ({ id: _id, tenant, signedOutAt }));
    },
    count: () => gate.run(() => users.countDocuments({}).exec()),
  };
}

function toUserDoc({ id, ...rest }: UserRecord): UserDoc {
  return { _id: id, ...rest };
}
