import type { CredentialRecord } from '@behalf/gateway/ports';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';
import { nowMs } from './storeTime.ts';
import type { CredentialDoc } from './vaultSchemas.ts';

/** All that a holder has at a server. */
type Group = Pick<CredentialDoc, 'tenant' | 'principal' | 'serverId'>;
type Ranked = Group & Pick<CredentialDoc, '_id' | 'defaultRank'>;

/**
 * Which credential of a holder at a server is the default one. To take the mark from one document and give it to another
 * would be two steps, and a MongoDB that is no replica set has no transactions. So each has a rank, and the highest above
 * zero is the default one: whoever chooses writes one document, and at no moment are there two or none.
 */
export interface CredentialDefaults {
  /** For one that is about to be inserted. */
  rankFor(credential: Group): Promise<number>;
  /** False when there is no such credential. */
  choose(id: string): Promise<boolean>;
  /**
   * Takes the rank from those below the highest: or one of them would be the default one when that is removed. Never
   * throws: what came before it is done, and the next one settles this too.
   */
  settle(of: Group): Promise<void>;
  record(doc: CredentialDoc): Promise<CredentialRecord>;
  /** Never throws: what was written is written, also when the store goes away before it is asked for the others. */
  written(doc: CredentialDoc): Promise<CredentialRecord>;
  /** Of whole groups. */
  recordsOfGroups(docs: readonly CredentialDoc[]): CredentialRecord[];
}

export function createCredentialDefaults({ credentials }: Models, gate: Gate): CredentialDefaults {
  const groupOf = ({ tenant, principal, serverId }: Group) => ({
    tenant,
    principal,
    serverId,
  });
  const topOf = (of: Group) =>
    gate.run(() =>
      credentials
        .findOne({ ...groupOf(of), defaultRank: { $gt: 0 } })
        .sort({ defaultRank: -1, _id: -1 })
        .lean<CredentialDoc>()
        .exec(),
    );

  const isTop = async (doc: CredentialDoc) => doc.defaultRank > 0 && (await topOf(doc))?._id === doc._id;

  async function lowerOthers(of: Group): Promise<void> {
    const top = await topOf(of);
    if (top === null) return;
    // Only what this one outranks: one that rises meanwhile stays above it.
    const { _id, defaultRank } = top;
    const below = [{ defaultRank: { $gt: 0, $lt: defaultRank } }, { defaultRank, _id: { $lt: _id } }];
    const others = { ...groupOf(of), $or: below };
    await gate.run(() => credentials.updateMany(others, { $set: { defaultRank: 0 } }).exec());
  }
  const settle = (of: Group) => lowerOthers(of).catch(() => undefined);

  return {
    rankFor: async (credential) => ((await topOf(credential)) === null ? 1 : 0),
    async choose(id) {
      const chosen = await gate.run(() => credentials.findById(id).lean<CredentialDoc>().exec());
      if (chosen === null) return false;
      const top = await topOf(chosen);
      if (top?._id === id) return true;
      const defaultRank = (top?.defaultRank ?? 0) + 1;
      const rise = [{ $set: { defaultRank, version: { $add: ['$version', 1] }, updatedAt: nowMs } }];
      const done = await gate.run(() =>
        credentials.updateOne({ _id: id }, rise, { updatePipeline: true }).exec(),
      );
      if (done.matchedCount === 0) return false;
      await settle(chosen);
      return true;
    },
    settle,
    record: async (doc) => recordOfCredential(doc, await isTop(doc)),
    // Who has a rank is the default one, but for the moment in which another is chosen.
    written: async (doc) => recordOfCredential(doc, await isTop(doc).catch(() => true)),
    recordsOfGroups: (docs) =>
      docs.map((doc) =>
        recordOfCredential(
          doc,
          doc.defaultRank > 0 && !docs.some((other) => inOneGroup(other, doc) && outranks(other, doc)),
        ),
      ),
  };
}

function inOneGroup(a: Ranked, b: Ranked): boolean {
  return a.tenant === b.tenant && a.principal === b.principal && a.serverId === b.serverId;
}

function outranks(a: Ranked, b: Ranked): boolean {
  return a.defaultRank > b.defaultRank || (a.defaultRank === b.defaultRank && a._id > b._id);
}

function recordOfCredential(doc: CredentialDoc, isDefault: boolean): CredentialRecord {
  const { _id, defaultRank: _rank, claimIsTakeover: _isTakeover, ...fields } = doc;
  return { id: _id, isDefault, ...fields };
}
