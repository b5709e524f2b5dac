import { credentialId, type CredentialStore } from '@behalf/gateway/ports';
import { recordOrNull } from './documents.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';

export function createMongoCredentials({ credentials }: Models, gate: Gate): CredentialStore {
  return {
    async put({ id, ...rest }) {
      const whole = { _id: id, ...rest };
      await gate.runUpsert(() => credentials.replaceOne({ _id: id }, whole, { upsert: true }).exec());
    },
    find: async (key) =>
      recordOrNull(
        'credentials',
        await gate.run(() => credentials.findById(credentialId(key)).lean().exec()),
      ),
    remove: async (key) =>
      (await gate.run(() => credentials.deleteOne({ _id: credentialId(key) }).exec())).deletedCount === 1,
    removeOfPrincipal: async (tenant, principal) =>
      (await gate.run(() => credentials.deleteMany({ tenant, principal }).exec())).deletedCount,
    removeOfServer: async (tenant, serverId) =>
      (await gate.run(() => credentials.deleteMany({ tenant, serverId }).exec())).deletedCount,
    removeExpired: async (now) =>
      (await gate.run(() => credentials.deleteMany({ expiresAt: { $lte: now } }).exec())).deletedCount,
  };
}
