import type { PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Random } from '@behalf/kernel';
import type { Model } from 'mongoose';
import { openKeyvCache } from '../keyvCache.ts';
import { createOrphanFiles } from '../orphanFiles.ts';
import { createOrphanMap } from '../orphanMap.ts';
import { createMongoAcl } from './acl.ts';
import { createMongoApiKeys } from './apiKeys.ts';
import { createMongoAttempts } from './attempts.ts';
import { createMongoAudit } from './audit.ts';
import { createMongoCacheAdapter } from './cacheAdapter.ts';
import { createMongoChanges } from './changes.ts';
import { openConnection } from './connection.ts';
import { createMongoConversations } from './conversations.ts';
import { createCredentialDefaults } from './credentialDefaults.ts';
import { createMongoCredentials } from './credentials.ts';
import { createMongoCredentialUsage } from './credentialUsage.ts';
import { createMongoFacade } from './facade.ts';
import { createGate } from './gate.ts';
import { createMongoDrafts } from './drafts.ts';
import { ensureFormat } from './format.ts';
import { createMongoLeases } from './leases.ts';
import { defineModels } from './models.ts';
import { createMongoOAuthClients } from './oauthClients.ts';
import { createMongoOAuthFlows } from './oauthFlows.ts';
import { createMongoOverrides } from './overrides.ts';
import { createMongoOwned } from './owned.ts';
import { createMongoRaw } from './raw.ts';
import { createMongoRoles } from './roles.ts';
import { createMongoRuns } from './runs.ts';
import { createMongoServers } from './servers.ts';
import { createMongoSessions } from './sessions.ts';
import { createMongoSystem } from './system.ts';
import { createMongoTickets } from './tickets.ts';
import { createMongoUsers } from './users.ts';
import { createMongoVariables } from './variables.ts';

export interface MongoParts {
  /** Names the database in its path; `behalf` when it does not. */
  uri: string;
  clock: Clock;
  random: Random;
  /** How often another process's changes are looked for. */
  pollMs?: number;
  /** How long a server may be out of reach before a call fails. */
  timeoutMs?: number;
  /** Where pairs wait that this store could not take, when there is no Redis; without it they go with the process. */
  orphanDir?: string;
}

/** The store of a scaled-out gateway: any number of replicas on one MongoDB. */
export async function openMongoStore(parts: MongoParts): Promise<PrimaryStore> {
  const { uri, clock, random, pollMs = 1_000, timeoutMs = 5_000, orphanDir } = parts;
  const connection = await openConnection(uri, timeoutMs);
  const gate = createGate();
  const models = defineModels(connection);
  try {
    const ensureIndexes = async () => {
      for (const model of Object.values(models) as Model<unknown>[])
        await gate.run(() => model.createIndexes());
    };
    await ensureFormat(models, gate, connection.name);
    // The unique indexes decide who wins: nothing is served before they stand.
    await ensureIndexes();
    const system = await createMongoSystem(models, gate, ensureIndexes);
    const changes = await createMongoChanges(models, gate, { clock, pollMs });
    const defaults = createCredentialDefaults(models, gate);
    let closing: Promise<void> | null = null;
    return {
      kind: 'mongo',
      users: createMongoUsers(models, gate),
      sessions: createMongoSessions(models, gate),
      tickets: createMongoTickets(models, gate),
      variables: createMongoVariables(models, gate),
      servers: createMongoServers(models, gate),
      acl: createMongoAcl(models, gate),
      apiKeys: createMongoApiKeys(models, gate),
      audit: createMongoAudit(models, gate),
      drafts: createMongoDrafts(models, gate),
      blocks: createMongoOwned('blocks', models, gate),
      sets: createMongoOwned('sets', models, gate),
      runs: createMongoRuns(models, gate),
      conversations: createMongoConversations(models, gate),
      credentials: createMongoCredentials(models, gate, defaults),
      credentialUsage: createMongoCredentialUsage(models, gate),
      authorizationServer: createMongoFacade(models, gate),
      oauthClients: createMongoOAuthClients(models, gate),
      oauthFlows: createMongoOAuthFlows(models, gate),
      overrides: createMongoOverrides(models, gate),
      roles: createMongoRoles(models, gate),
      system,
      raw: createMongoRaw(models, gate, defaults),
      attempts: createMongoAttempts(models, gate),
      leases: createMongoLeases(models, gate, random),
      changes,
      pendingWrites:
        orphanDir === undefined
          ? createOrphanMap(clock)
          : createOrphanFiles({ directory: orphanDir, clock, random }),
      cache: openKeyvCache('mongo', (namespace) => createMongoCacheAdapter(models, gate, namespace)),
      // A member without a primary still answers `ping`; a read tells whether the store can serve.
      ping: () =>
        gate.run(async () => {
          await models.topicRevisions.exists({}).exec();
        }),
      close() {
        changes.stop();
        closing ??= gate.close().then(() => connection.close());
        return closing;
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}
