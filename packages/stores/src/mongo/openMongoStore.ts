import type { PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Random } from '@behalf/kernel';
import type { Model } from 'mongoose';
import { openKeyvCache } from '../keyvCache.ts';
import { createPendingWriteFiles, createPendingWriteMap } from '../pendingWrites.ts';
import { createMongoAcl, createMongoRoles } from './access.ts';
import { createMongoApiKeys, createMongoSessions, createMongoTickets, createMongoUsers } from './accounts.ts';
import { createMongoAudit } from './audit.ts';
import { createMongoAuthorizationServer } from './authorizationServer.ts';
import { createMongoOwned, createMongoRuns } from './blocks.ts';
import { createCommandRunner, openConnection } from './connection.ts';
import { createMongoConversations } from './conversations.ts';
import {
  createMongoAttempts,
  createMongoCacheAdapter,
  createMongoChanges,
  createMongoLeases,
} from './coordination.ts';
import {
  createCredentialDefaults,
  createMongoCredentialUsage,
  createMongoCredentials,
  createMongoVariables,
} from './credentials.ts';
import { defineModels } from './models.ts';
import { createMongoOAuthClients, createMongoOAuthFlows } from './oauthFlows.ts';
import { createMongoRaw } from './raw.ts';
import { createMongoDrafts, createMongoOverrides, createMongoServers } from './servers.ts';
import { createMongoSystem, ensureFormat } from './system.ts';

export interface MongoParts {
  /** The path names the database; the default is `behalf`. */
  uri: string;
  clock: Clock;
  random: Random;
  /** Poll interval for changes of other processes. */
  pollMs?: number;
  /** How long a server may be unreachable before a call fails. */
  timeoutMs?: number;
  /**
   * Directory for token pairs that this store could not save, used without Redis. Without it, they are lost
   * when the process ends.
   */
  pendingWriteDir?: string;
}

/** The store of a scaled-out gateway: any number of replicas on one MongoDB. */
export async function openMongoStore(parts: MongoParts): Promise<PrimaryStore> {
  const { uri, clock, random, pollMs = 1_000, timeoutMs = 5_000, pendingWriteDir } = parts;
  const connection = await openConnection(uri, timeoutMs);
  const runner = createCommandRunner();
  const models = defineModels(connection);
  try {
    const ensureIndexes = async () => {
      for (const model of Object.values(models) as Model<unknown>[])
        await runner.run(() => model.createIndexes());
    };
    await ensureFormat(models, runner, connection.name);
    // Unique indexes decide conflicts, so they must exist before the first request.
    await ensureIndexes();
    const system = await createMongoSystem(models, runner, ensureIndexes);
    const changes = await createMongoChanges(models, runner, { clock, pollMs });
    const defaults = createCredentialDefaults(models, runner);
    let closePromise: Promise<void> | null = null;
    return {
      kind: 'mongo',
      users: createMongoUsers(models, runner),
      sessions: createMongoSessions(models, runner),
      tickets: createMongoTickets(models, runner),
      variables: createMongoVariables(models, runner),
      servers: createMongoServers(models, runner),
      acl: createMongoAcl(models, runner),
      apiKeys: createMongoApiKeys(models, runner),
      audit: createMongoAudit(models, runner),
      drafts: createMongoDrafts(models, runner),
      blocks: createMongoOwned('blocks', models, runner),
      sets: createMongoOwned('sets', models, runner),
      runs: createMongoRuns(models, runner),
      conversations: createMongoConversations(models, runner),
      credentials: createMongoCredentials(models, runner, defaults),
      credentialUsage: createMongoCredentialUsage(models, runner),
      authorizationServer: createMongoAuthorizationServer(models, runner),
      oauthClients: createMongoOAuthClients(models, runner),
      oauthFlows: createMongoOAuthFlows(models, runner),
      overrides: createMongoOverrides(models, runner),
      roles: createMongoRoles(models, runner),
      system,
      raw: createMongoRaw(models, runner, defaults),
      attempts: createMongoAttempts(models, runner),
      leases: createMongoLeases(models, runner, random),
      changes,
      pendingWrites:
        pendingWriteDir === undefined
          ? createPendingWriteMap(clock)
          : createPendingWriteFiles({ directory: pendingWriteDir, clock, random }),
      cache: openKeyvCache('mongo', (namespace) => createMongoCacheAdapter(models, runner, namespace)),
      // `ping` succeeds on a member without a primary. A read shows whether the store can serve.
      ping: () =>
        runner.run(async () => {
          await models.topicRevisions.exists({}).exec();
        }),
      close() {
        changes.stop();
        closePromise ??= runner.close().then(() => connection.close());
        return closePromise;
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}
