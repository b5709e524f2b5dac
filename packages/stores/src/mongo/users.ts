import type { UserRecord, UserStore } from '@behalf/gateway/ports';
import type { QueryFilter } from 'mongoose';
import { pickUserChanges } from '../pickUserChanges.ts';
import { toRecordOrNull, toRecords } from './documents.ts';
import { isDuplicateKey, isDuplicateKeyOf } from './failures.ts';
import type { CommandRunner } from './commandRunner.ts';
import { escapeSearchPattern } from './escapeSearchPattern.ts';
import type { Models, UserDoc } from './models.ts';

/**
 * "First" must be one step for all processes, and MongoDB changes one document atomically, not "a collection that is
 * empty". So the first document of a store carries `isFirst: true`, and a partial unique index allows that once. Whoever
 * may be writing into an empty store - `insertFirst`, and `insert` until it has seen a marked document - tries with the
 * mark, and the index picks one. There is no lock or sentinel beside the user, so a crash leaves nothing half done.
 * A store filled by a copy has no mark, but it has users, and `insertFirst` looks for those before it tries.
 */
export function createMongoUsers({ users }: Models, runner: CommandRunner): UserStore {
  let hasFirstUser = false;

  const create = (user: UserRecord, isFirst: boolean) =>
    runner.run(() => users.create([{ ...toUserDoc(user), ...(isFirst ? { isFirst: true as const } : {}) }]));

  async function insertMarked(user: UserRecord): Promise<'inserted' | 'taken' | 'not_first'> {
    try {
      await create(user, true);
      return 'inserted';
    } catch (error) {
      if (isDuplicateKeyOf(error, 'isFirst')) return 'not_first';
      if (isDuplicateKey(error)) return 'taken';
      throw error;
    }
  }

  return {
    async insert(user) {
      hasFirstUser ||= (await runner.run(() => users.exists({ isFirst: true }).exec())) !== null;
      if (!hasFirstUser) {
        const outcome = await insertMarked(user);
        if (outcome !== 'not_first') return outcome;
        hasFirstUser = true;
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
      if ((await runner.run(() => users.exists({}).exec())) !== null) return 'not_first';
      return (await insertMarked(user)) === 'inserted' ? 'inserted' : 'not_first';
    },
    findById: async (id) => toRecordOrNull('users', await runner.run(() => users.findById(id).lean().exec())),
    async findMany(ids) {
      const docs = await runner.run(() =>
        users
          .find({ _id: { $in: [...ids] } })
          .lean()
          .exec(),
      );
      return toRecords('users', docs);
    },
    findByIdentity: async (tenant, issuer, subject) =>
      toRecordOrNull(
        'users',
        await runner.run(() => users.findOne({ tenant, issuer, subject }).lean().exec()),
      ),
    async update(id, change, changedAt, { role, roleSource } = {}) {
      const filter = {
        _id: id,
        ...(role === undefined ? {} : { role }),
        ...(roleSource === undefined ? {} : { roleSource }),
      } as QueryFilter<UserDoc>;
      const result = await runner.run(() =>
        users.updateOne(filter, { $set: pickUserChanges(change, changedAt) }).exec(),
      );
      return result.matchedCount === 1;
    },
    async list(tenant, { after, limit, search = '' }) {
      const pattern = { $regex: escapeSearchPattern(search), $options: 'i' };
      const filter = {
        tenant,
        ...(after === null ? {} : { _id: { $gt: after } }),
        ...(search === '' ? {} : { $or: [{ email: pattern }, { name: pattern }] }),
      };
      const docs = await runner.run(() => users.find(filter).sort({ _id: 1 }).limit(limit).lean().exec());
      return toRecords('users', docs);
    },
    countWithRole: (tenant, role) =>
      runner.run(() => users.countDocuments({ tenant, role, disabledAt: null }).exec()),
    async listSignedOutSince(since) {
      const docs = await runner.run(() =>
        users
          .find({ signedOutAt: { $gte: since } }, { tenant: 1, signedOutAt: 1 })
          .lean()
          .exec(),
      );
      return docs.map(({ _id, tenant, signedOutAt }) => ({ id: _id, tenant, signedOutAt }));
    },
    count: () => runner.run(() => users.countDocuments({}).exec()),
  };
}

function toUserDoc({ id, ...rest }: UserRecord): UserDoc {
  return { _id: id, ...rest };
}
