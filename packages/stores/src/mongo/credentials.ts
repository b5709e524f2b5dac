import {
  type CredentialCondition,
  type CredentialRecord,
  type CredentialStore,
  type CredentialUsageStore,
  type UserVariableStore,
  credentialId,
  credentialKey,
} from '@behalf/gateway/ports';
import type { QueryFilter } from 'mongoose';
import { pickCredentialChanges } from '../writeRules.ts';
import { type CommandRunner, isDuplicateKey } from './connection.ts';
import { toRecordOrNull, toRecords } from './documents.ts';
import type { Models, VariableDoc } from './models.ts';
import type { CredentialDoc } from './schemas.ts';
import { buildInFutureMsExpression, literal, msFromNow, nowMs } from './storeTime.ts';

/**
 * Every step is one command on one document. Deadlines use only the clock of the server: replicas with
 * different clocks would take claims that another replica still uses.
 */
export function createMongoCredentials(
  { credentials, credentialUsage }: Models,
  runner: CommandRunner,
  defaults: CredentialDefaults,
): CredentialStore {
  const findOne = async (id: string) => {
    const doc = await runner.run(() => credentials.findById(id).lean<CredentialDoc>().exec());
    return doc && defaults.toRecord(doc);
  };
  /**
   * Writes the fields, given as expressions, and increments the write counter. Null if the filter does not
   * match.
   */
  const updateIf = (filter: QueryFilter<CredentialDoc>, fields: object) =>
    runner.run(() =>
      credentials
        .findOneAndUpdate(
          filter,
          [{ $set: { ...fields, version: { $add: ['$version', 1] }, updatedAt: nowMs } }],
          { returnDocument: 'after', updatePipeline: true },
        )
        .lean<CredentialDoc>()
        .exec(),
    );
  /**
   * Removes the usage record first: after an interruption, the credential still exists and can be removed
   * again.
   */
  const removeWhere = async (filter: QueryFilter<CredentialDoc>) => {
    const docs = await runner.run(() =>
      credentials.find(filter, { _id: 1 }).lean<{ _id: string }[]>().exec(),
    );
    if (docs.length === 0) return 0;
    const ids = docs.map(({ _id }) => _id);
    await runner.run(() => credentialUsage.deleteMany({ _id: { $in: ids } }).exec());
    return (await runner.run(() => credentials.deleteMany(filter).exec())).deletedCount;
  };

  return {
    async insert({ id, isDefault: _isDefault, ...rest }) {
      const defaultRank = await defaults.getInitialRank(rest);
      try {
        await runner.run(() => credentials.create([{ _id: id, ...rest, defaultRank }]));
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
      if (defaultRank > 0) await defaults.clearOtherRanks(rest);
      return true;
    },
    find: (key) => findOne(credentialId(key)),
    findById: findOne,
    async list(tenant, principal, serverId) {
      const filter = { tenant, principal, ...(serverId === undefined ? {} : { serverId }) };
      const docs = await runner.run(() =>
        credentials.find(filter).sort({ serverId: 1, kind: 1, label: 1 }).lean<CredentialDoc[]>().exec(),
      );
      return defaults.toRecords(docs);
    },
    async listKeysByServer(tenant, serverId, limit) {
      const docs = await runner.run(() =>
        credentials.find({ tenant, serverId }).sort({ _id: 1 }).limit(limit).lean<CredentialDoc[]>().exec(),
      );
      return docs.map(credentialKey);
    },
    async replace(id, condition, patch) {
      const fields = Object.entries(pickCredentialChanges(patch)).map(([field, value]) => [
        field,
        literal(value),
      ]);
      const after = await updateIf({ _id: id, ...toFilter(condition) }, Object.fromEntries(fields) as object);
      return after && defaults.toRecordAfterWrite(after);
    },
    async claim(id, { generation, tokenSeq, rtHash, owner, ttlMs }) {
      const isUnclaimed = {
        $or: [{ $eq: ['$claimOwner', null] }, { $not: [buildInFutureMsExpression('$claimDeadline')] }],
      };
      const after = await updateIf(
        { _id: id, generation, tokenSeq, rtHash, status: 'active', $expr: isUnclaimed },
        {
          claimSeq: { $add: ['$claimSeq', 1] },
          claimOwner: literal(owner),
          claimStartedAt: nowMs,
          claimDeadline: msFromNow(ttlMs),
          // Only the command itself can see the previous owner.
          claimIsTakeover: { $ne: ['$claimOwner', null] },
        },
      );
      return (
        after && {
          record: await defaults.toRecordAfterWrite(after),
          tookOver: after.claimIsTakeover === true,
        }
      );
    },
    extendClaim: async (id, claimSeq, claimOwner, ttlMs) =>
      (await updateIf({ _id: id, claimSeq, claimOwner }, { claimDeadline: msFromNow(ttlMs) })) !== null,
    makeDefault: (id) => defaults.setDefault(id),
    async remove(key) {
      const _id = credentialId(key);
      await runner.run(() => credentialUsage.deleteOne({ _id }).exec());
      return (await runner.run(() => credentials.deleteOne({ _id }).exec())).deletedCount === 1;
    },
    removeByPrincipal: (tenant, principal) => removeWhere({ tenant, principal }),
    removeByServer: (tenant, serverId) => removeWhere({ tenant, serverId }),
    removeExpired: (now) => removeWhere({ expiresAt: { $lte: now } }),
    async now() {
      const { localTime } = await runner.run(() => credentials.db.getClient().db().command({ hello: 1 }));
      return (localTime as Date).getTime();
    },
  };
}

function toFilter({
  generation,
  rtHash,
  tokenSeq,
  claimSeq,
}: CredentialCondition): QueryFilter<CredentialDoc> {
  return {
    generation,
    ...(rtHash === undefined ? {} : { rtHash }),
    ...(tokenSeq === undefined ? {} : { tokenSeq }),
    ...(claimSeq === undefined ? {} : { claimSeq, claimOwner: { $ne: null } }),
  };
}

/** For copies: the stored form of a credential. */
export function toCredentialDoc({ id, isDefault, ...rest }: CredentialRecord): CredentialDoc {
  return { _id: id, ...rest, defaultRank: isDefault ? 1 : 0 };
}

/** All credentials of one principal for one server. */
type CredentialGroup = Pick<CredentialDoc, 'tenant' | 'principal' | 'serverId'>;
type RankedCredential = CredentialGroup & Pick<CredentialDoc, '_id' | 'defaultRank'>;

/**
 * Selects the default credential of a principal for a server. Moving a mark between two documents would take
 * two steps, and a MongoDB without a replica set has no transactions. So each document has a rank, and the
 * highest rank above zero is the default. A change writes one document, and at every moment there is exactly
 * one default.
 */
export interface CredentialDefaults {
  /** Rank of a credential that is about to be inserted. */
  getInitialRank(credential: CredentialGroup): Promise<number>;
  /** False if the credential does not exist. */
  setDefault(id: string): Promise<boolean>;
  /**
   * Clears the ranks below the highest. Otherwise one of them would become the default when the current default
   * is removed. Never throws: the preceding write is complete, and the next call clears the ranks as well.
   */
  clearOtherRanks(group: CredentialGroup): Promise<void>;
  toRecord(doc: CredentialDoc): Promise<CredentialRecord>;
  /** Never throws: the write is complete even if the store then becomes unreachable. */
  toRecordAfterWrite(doc: CredentialDoc): Promise<CredentialRecord>;
  /** Expects all credentials of each group. */
  toRecords(docs: readonly CredentialDoc[]): CredentialRecord[];
}

export function createCredentialDefaults({ credentials }: Models, runner: CommandRunner): CredentialDefaults {
  const groupFilter = ({ tenant, principal, serverId }: CredentialGroup) => ({
    tenant,
    principal,
    serverId,
  });
  const findTop = (group: CredentialGroup) =>
    runner.run(() =>
      credentials
        .findOne({ ...groupFilter(group), defaultRank: { $gt: 0 } })
        .sort({ defaultRank: -1, _id: -1 })
        .lean<CredentialDoc>()
        .exec(),
    );

  const isTop = async (doc: CredentialDoc) => doc.defaultRank > 0 && (await findTop(doc))?._id === doc._id;

  async function lowerOthers(group: CredentialGroup): Promise<void> {
    const top = await findTop(group);
    if (top === null) return;
    // Only ranks below this one: a credential that rises concurrently keeps its rank.
    const { _id, defaultRank } = top;
    const lowerRanks = [{ defaultRank: { $gt: 0, $lt: defaultRank } }, { defaultRank, _id: { $lt: _id } }];
    const filter = { ...groupFilter(group), $or: lowerRanks };
    await runner.run(() => credentials.updateMany(filter, { $set: { defaultRank: 0 } }).exec());
  }
  const clearOtherRanks = (group: CredentialGroup) => lowerOthers(group).catch(() => undefined);

  async function setDefault(id: string): Promise<boolean> {
    const credential = await runner.run(() => credentials.findById(id).lean<CredentialDoc>().exec());
    if (credential === null) return false;
    const top = await findTop(credential);
    if (top?._id === id) return true;
    const defaultRank = (top?.defaultRank ?? 0) + 1;
    const update = [{ $set: { defaultRank, version: { $add: ['$version', 1] }, updatedAt: nowMs } }];
    // The rank only rises: a lower one, from a stale read, would be cleared together with the other ranks.
    const filter = { _id: id, defaultRank: { $lt: defaultRank } };
    const result = await runner.run(() =>
      credentials.updateOne(filter, update, { updatePipeline: true }).exec(),
    );
    // Removed, or ranked higher by a concurrent call: read again.
    if (result.matchedCount === 0) return setDefault(id);
    await clearOtherRanks(credential);
    return true;
  }

  return {
    getInitialRank: async (credential) => ((await findTop(credential)) === null ? 1 : 0),
    setDefault,
    clearOtherRanks,
    toRecord: async (doc) => toCredentialRecord(doc, await isTop(doc)),
    // If the check fails, assume the default: a credential with a rank is the default except while another one
    // is being selected.
    toRecordAfterWrite: async (doc) => toCredentialRecord(doc, await isTop(doc).catch(() => true)),
    toRecords: (docs) =>
      docs.map((doc) =>
        toCredentialRecord(
          doc,
          doc.defaultRank > 0 && !docs.some((other) => isSameGroup(other, doc) && outranks(other, doc)),
        ),
      ),
  };
}

function isSameGroup(a: RankedCredential, b: RankedCredential): boolean {
  return a.tenant === b.tenant && a.principal === b.principal && a.serverId === b.serverId;
}

function outranks(a: RankedCredential, b: RankedCredential): boolean {
  return a.defaultRank > b.defaultRank || (a.defaultRank === b.defaultRank && a._id > b._id);
}

function toCredentialRecord(doc: CredentialDoc, isDefault: boolean): CredentialRecord {
  const { _id, defaultRank: _rank, claimIsTakeover: _isTakeover, ...fields } = doc;
  return { id: _id, isDefault, ...fields };
}

export function createMongoCredentialUsage(
  { credentialUsage }: Models,
  runner: CommandRunner,
): CredentialUsageStore {
  return {
    async put({ id, ...rest }) {
      const replacement = { _id: id, ...rest };
      await runner.runUpsert(() =>
        credentialUsage.replaceOne({ _id: id }, replacement, { upsert: true }).exec(),
      );
    },
    find: async (id) =>
      toRecordOrNull('credentialUsage', await runner.run(() => credentialUsage.findById(id).lean().exec())),
    async listUsedSince(since, limit) {
      const docs = await runner.run(() =>
        credentialUsage
          .find({ lastUsedAt: { $gte: since } })
          .sort({ lastUsedAt: -1, _id: 1 })
          .limit(limit)
          .lean()
          .exec(),
      );
      return toRecords('credentialUsage', docs);
    },
    remove: async (id) =>
      (await runner.run(() => credentialUsage.deleteOne({ _id: id }).exec())).deletedCount === 1,
  };
}

export function createMongoVariables({ variables }: Models, runner: CommandRunner): UserVariableStore {
  const removeWhere = async (filter: Partial<VariableDoc>) =>
    (await runner.run(() => variables.deleteMany(filter).exec())).deletedCount;

  return {
    async list(tenant, userId, serverId) {
      const docs = await runner.run(() =>
        variables.find({ tenant, userId, serverId }).sort({ name: 1 }).lean().exec(),
      );
      return toRecords('variables', docs);
    },
    async put(records) {
      if (records.length === 0) return;
      const writes = records.map(({ id, ...rest }) => ({
        replaceOne: { filter: { _id: id }, replacement: { _id: id, ...rest }, upsert: true },
      }));
      // Each value is a document of its own and writes are idempotent, so an interrupted change can be
      // repeated.
      await runner.runUpsert(() => variables.bulkWrite(writes, { ordered: true }));
    },
    remove: async (tenant, userId, serverId, name) =>
      (await removeWhere({ tenant, userId, serverId, name })) > 0,
    removeAll: (tenant, userId, serverId) => removeWhere({ tenant, userId, serverId }),
    removeByServer: (tenant, serverId) => removeWhere({ tenant, serverId }),
    removeByUser: (tenant, userId) => removeWhere({ tenant, userId }),
  };
}
