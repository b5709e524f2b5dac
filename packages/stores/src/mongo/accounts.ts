import type {
  ApiKeyStore,
  SessionStore,
  TicketKind,
  TicketStore,
  UserRecord,
  UserStore,
} from '@behalf/gateway/ports';
import type { QueryFilter } from 'mongoose';
import { pickUserChanges } from '../writeRules.ts';
import { type CommandRunner, isDuplicateKey, isDuplicateKeyOf } from './connection.ts';
import { toRecordOrNull, toRecords } from './documents.ts';
import type { Models, UserDoc } from './models.ts';
import { buildInFutureMsExpression } from './storeTime.ts';

/**
 * "First user" must be one atomic step for all processes. MongoDB changes one document atomically, but cannot
 * check that a collection is empty. So the first document of a store carries `isFirst: true`, and a partial
 * unique index allows one such document. Every insert that may meet an empty store (`insertFirst`, and `insert`
 * until it has seen a marked document) tries with the mark, and the index accepts one. There is no separate
 * lock or sentinel, so a crash leaves nothing incomplete. A store filled by a copy has no mark, but it has
 * users: `insertFirst` looks for users before it tries.
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

/**
 * Regular expression that matches values containing the text. Every character that is not a letter or digit is
 * escaped by its code point, including NUL, which MongoDB forbids in a pattern.
 */
function escapeSearchPattern(text: string): string {
  return text.replace(
    /[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

export function createMongoSessions({ sessions }: Models, runner: CommandRunner): SessionStore {
  return {
    async insert({ hash, ...rest }) {
      await runner.run(() => sessions.create([{ _id: hash, ...rest }]));
    },
    async find(hash, now) {
      const filter = { _id: hash, expiresAt: { $gt: now } };
      return toRecordOrNull('sessions', await runner.run(() => sessions.findOne(filter).lean().exec()));
    },
    async filterActive(hashes, now) {
      const filter = { _id: { $in: [...hashes] }, expiresAt: { $gt: now } };
      const docs = await runner.run(() => sessions.find(filter, { _id: 1 }).lean().exec());
      return docs.map(({ _id }) => _id);
    },
    async list(userId, now) {
      const filter = { userId, expiresAt: { $gt: now } };
      const docs = await runner.run(() => sessions.find(filter).sort({ createdAt: 1, _id: 1 }).lean().exec());
      return toRecords('sessions', docs);
    },
    remove: async (hash) =>
      (await runner.run(() => sessions.deleteOne({ _id: hash }).exec())).deletedCount === 1,
    removeByUser: async (userId) =>
      (await runner.run(() => sessions.deleteMany({ userId }).exec())).deletedCount,
    removeExpired: async (now) =>
      (await runner.run(() => sessions.deleteMany({ expiresAt: { $lte: now } }).exec())).deletedCount,
  };
}

export function createMongoApiKeys({ apiKeys }: Models, runner: CommandRunner): ApiKeyStore {
  return {
    async insert({ id, ...rest }) {
      await runner.run(() => apiKeys.create([{ _id: id, ...rest }]));
    },
    async findByHash(hash, now) {
      const filter = { hash, expiresAt: { $gt: now } };
      return toRecordOrNull('apiKeys', await runner.run(() => apiKeys.findOne(filter).lean().exec()));
    },
    async filterActive(ids, now) {
      const filter = { _id: { $in: [...ids] }, expiresAt: { $gt: now } };
      const docs = await runner.run(() => apiKeys.find(filter, { _id: 1 }).lean().exec());
      return docs.map(({ _id }) => _id);
    },
    async list(userId) {
      const docs = await runner.run(() =>
        apiKeys.find({ userId }).sort({ createdAt: 1, _id: 1 }).lean().exec(),
      );
      return toRecords('apiKeys', docs);
    },
    async remove(userId, id) {
      const removed = await runner.run(() => apiKeys.findOneAndDelete({ _id: id, userId }).lean().exec());
      return toRecordOrNull('apiKeys', removed);
    },
    removeByUser: async (userId) =>
      (await runner.run(() => apiKeys.deleteMany({ userId }).exec())).deletedCount,
    removeExpired: async (now) =>
      (await runner.run(() => apiKeys.deleteMany({ expiresAt: { $lte: now } }).exec())).deletedCount,
    async touch(id, usedAt) {
      // `$max` treats null, the value of an unused key, as smaller than any number.
      await runner.run(() => apiKeys.updateOne({ _id: id }, { $max: { lastUsedAt: usedAt } }).exec());
    },
  };
}

export function createMongoTickets({ tickets }: Models, runner: CommandRunner): TicketStore {
  // The ticket must be valid by both clocks: a replica whose clock is behind does not extend it.
  const buildConsumableFilter = (kind: TicketKind, hash: string, now: number) => ({
    _id: hash,
    kind,
    consumedAt: null,
    expiresAt: { $gt: now },
    $expr: buildInFutureMsExpression('$expiresAt'),
  });

  return {
    async issue({ hash, ...rest }) {
      await runner.run(() => tickets.create([{ _id: hash, ...rest, consumedAt: null }]));
      // Maintenance: the next run removes what an outage leaves. A record must be expired by both clocks, so
      // that a replica whose clock is ahead does not remove a valid link of another replica.
      const expiredFilter = {
        expiresAt: { $lte: rest.createdAt },
        $expr: { $not: [buildInFutureMsExpression('$expiresAt')] },
      };
      await runner.run(() => tickets.deleteMany(expiredFilter).exec()).catch(() => undefined);
    },
    isConsumable: async (kind, hash, now) =>
      (await runner.run(() => tickets.exists(buildConsumableFilter(kind, hash, now)).exec())) !== null,
    async consume(kind, hash, now) {
      const result = await runner.run(() =>
        tickets.updateOne(buildConsumableFilter(kind, hash, now), { $set: { consumedAt: now } }).exec(),
      );
      return result.matchedCount === 1;
    },
    async revokeAll(kind) {
      await runner.run(() => tickets.deleteMany({ kind }).exec());
    },
  };
}
