import {
  credentialId,
  credentialKey,
  type CredentialCondition,
  type CredentialRecord,
  type CredentialStore,
} from '@behalf/gateway/ports';
import type { QueryFilter } from 'mongoose';
import { pickCredentialChanges } from '../pickCredentialChanges.ts';
import type { CredentialDefaults } from './credentialDefaults.ts';
import { isDuplicateKey } from './failures.ts';
import type { CommandRunner } from './commandRunner.ts';
import type { Models } from './models.ts';
import { buildInFutureMsExpression, literal, msFromNow, nowMs } from './storeTime.ts';
import type { CredentialDoc } from './vaultSchemas.ts';

/**
 * Every step is one command on one document. Deadlines are set and judged by the server's clock alone: replicas whose
 * clocks differ would take claims from each other that are still in use.
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
  /** Writes the fields, which are expressions, and counts the write; null where the filter does not hold. */
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
  /** What is known of their use goes along, and first: what an outage cuts short is still there to be removed again. */
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
          // What stood there before, only the command itself can say.
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

/** For a move: what stands for a record in its collection. */
export function toCredentialDoc({ id, isDefault, ...rest }: CredentialRecord): CredentialDoc {
  return { _id: id, ...rest, defaultRank: isDefault ? 1 : 0 };
}
