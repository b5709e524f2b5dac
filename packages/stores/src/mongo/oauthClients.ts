import { oauthClientId, type OAuthClientStore } from '@behalf/gateway/ports';
import { recordOf, recordOrNull } from './documents.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';

export function createMongoOAuthClients({ oauthClients }: Models, gate: Gate): OAuthClientStore {
  return {
    async insert({ id, ...rest }) {
      const options = { upsert: true, returnDocument: 'after' } as const;
      const first = await gate.runUpsert(() =>
        oauthClients.findOneAndUpdate({ _id: id }, { $setOnInsert: rest }, options).lean().orFail().exec(),
      );
      return recordOf('oauthClients', first);
    },
    find: async (key) =>
      recordOrNull(
        'oauthClients',
        await gate.run(() => oauthClients.findById(oauthClientId(key)).lean().exec()),
      ),
    replace: async ({ id, ...rest }, clientId) =>
      (await gate.run(() => oauthClients.updateOne({ _id: id, clientId }, { $set: rest }).exec()))
        .matchedCount === 1,
    remove: async (key, clientId) =>
      (await gate.run(() => oauthClients.deleteOne({ _id: oauthClientId(key), clientId }).exec()))
        .deletedCount === 1,
    removeByServer: async (tenant, serverId) =>
      (await gate.run(() => oauthClients.deleteMany({ tenant, serverId }).exec())).deletedCount,
  };
}
