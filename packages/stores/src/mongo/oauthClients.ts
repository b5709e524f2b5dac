import { oauthClientId, type OAuthClientStore } from '@behalf/gateway/ports';
import { toRecord, toRecordOrNull } from './documents.ts';
import type { CommandRunner } from './commandRunner.ts';
import type { Models } from './models.ts';

export function createMongoOAuthClients({ oauthClients }: Models, runner: CommandRunner): OAuthClientStore {
  return {
    async insert({ id, ...rest }) {
      const options = { upsert: true, returnDocument: 'after' } as const;
      const stored = await runner.runUpsert(() =>
        oauthClients.findOneAndUpdate({ _id: id }, { $setOnInsert: rest }, options).lean().orFail().exec(),
      );
      return toRecord('oauthClients', stored);
    },
    find: async (key) =>
      toRecordOrNull(
        'oauthClients',
        await runner.run(() => oauthClients.findById(oauthClientId(key)).lean().exec()),
      ),
    replace: async ({ id, ...rest }, clientId) =>
      (await runner.run(() => oauthClients.updateOne({ _id: id, clientId }, { $set: rest }).exec()))
        .matchedCount === 1,
    remove: async (key, clientId) =>
      (await runner.run(() => oauthClients.deleteOne({ _id: oauthClientId(key), clientId }).exec()))
        .deletedCount === 1,
    removeByServer: async (tenant, serverId) =>
      (await runner.run(() => oauthClients.deleteMany({ tenant, serverId }).exec())).deletedCount,
  };
}
