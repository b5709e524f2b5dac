import type { CredentialRecord } from '@behalf/gateway/ports';
import type { CommandRunner } from './commandRunner.ts';
import type { Models } from './models.ts';
import { nowMs } from './storeTime.ts';
import type { CredentialDoc } from './vaultSchemas.ts';

/** All that a holder has at a server. */
type CredentialGroup = Pick<CredentialDoc, 'tenant' | 'principal' | 'serverId'>;
type RankedCredential = CredentialGroup & Pick<CredentialDoc, '_id' | 'defaultRank'>;

/**
 * Which credential of a holder at a server is the default one. To take the mark from one document and give it to another
 * would be two steps, and a MongoDB that is no replica set has no transactions. So each has a rank, and the highest above
 * zero is the default one: whoever chooses writes one document, and at no moment are there two or none.
 */
export interface CredentialDefaults {
  /** For one that is about to be inserted. */
  getInitialRank(credential: CredentialGroup): Promise<number>;
  /** False when there is no such credential. */
  setDefault(id: string): Promise<boolean>;
  /**
   * Takes the rank from those below the highest: or one of them would be the default one when that is removed. Never
   * throws: what came before it is done, and the next one settles this too.
   */
  clearOtherRanks(group: CredentialGroup): Promise<void>;
  toRecord(doc: CredentialDoc): Promise<CredentialRecord>;
  /** Never throws: what was written is written, also when the store goes away before it is asked for the others. */
  toRecordAfterWrite(doc: CredentialDoc): Promise<CredentialRecord>;
  /** Of whole groups. */
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
    // Only what this one outranks: one that rises meanwhile stays above it.
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
    // Who has a rank is the default one, but for the moment in which another is chosen.
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
