import type { PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Random } from '@behalf/kernel';
import { openKeyvCache } from '../keyvCache.ts';
import { createPendingWriteFiles } from '../pendingWrites.ts';
import { createSqliteAcl, createSqliteRoles } from './access.ts';
import {
  createSqliteApiKeys,
  createSqliteSessions,
  createSqliteTickets,
  createSqliteUsers,
} from './accounts.ts';
import { createSqliteAudit } from './audit.ts';
import { createSqliteAuthorizationServer } from './authorizationServer.ts';
import { createSqliteOwned, createSqliteRuns } from './blocks.ts';
import { createSqliteConversations } from './conversations.ts';
import {
  createSqliteAttempts,
  createSqliteCacheAdapter,
  createSqliteChanges,
  createSqliteLeases,
} from './coordination.ts';
import {
  createSqliteCredentialUsage,
  createSqliteCredentials,
  createSqliteVariables,
} from './credentials.ts';
import { openDatabase } from './database.ts';
import { createSqliteOAuthClients, createSqliteOAuthFlows } from './oauthFlows.ts';
import { createSqliteRaw } from './raw.ts';
import { createSqliteDrafts, createSqliteOverrides, createSqliteServers } from './servers.ts';
import { createSqliteSystem } from './system.ts';
import { createTable } from './table.ts';

export interface SqliteParts {
  file: string;
  clock: Clock;
  random: Random;
  /** Poll interval for changes of other processes. */
  pollMs?: number;
}

/** The embedded default: one file, shared by any number of processes on this machine. */
export async function openSqliteStore({
  file,
  clock,
  random,
  pollMs = 250,
}: SqliteParts): Promise<PrimaryStore> {
  const db = await openDatabase(file, { clock, random });
  const changes = createSqliteChanges(db, { clock, pollMs });
  return {
    kind: 'sqlite',
    users: createSqliteUsers(db),
    sessions: createSqliteSessions(db),
    tickets: createSqliteTickets(db),
    variables: createSqliteVariables(db),
    servers: createSqliteServers(db),
    acl: createSqliteAcl(db),
    apiKeys: createSqliteApiKeys(db),
    audit: createSqliteAudit(db),
    drafts: createSqliteDrafts(db),
    blocks: createSqliteOwned(db, createTable('blocks')),
    sets: createSqliteOwned(db, createTable('sets')),
    runs: createSqliteRuns(db),
    conversations: createSqliteConversations(db),
    credentials: createSqliteCredentials(db, clock),
    credentialUsage: createSqliteCredentialUsage(db),
    authorizationServer: createSqliteAuthorizationServer(db),
    oauthClients: createSqliteOAuthClients(db),
    oauthFlows: createSqliteOAuthFlows(db),
    overrides: createSqliteOverrides(db),
    roles: createSqliteRoles(db),
    system: createSqliteSystem(db, clock),
    raw: createSqliteRaw(db),
    attempts: createSqliteAttempts(db, clock),
    leases: createSqliteLeases(db, { clock, random }),
    changes,
    pendingWrites: createPendingWriteFiles({ directory: `${file}-pending-writes`, clock, random }),
    cache: openKeyvCache('sqlite', (namespace) => createSqliteCacheAdapter(db, clock, namespace)),
    ping: async () => void db.get('SELECT 1'),
    async close() {
      changes.stop();
      await db.close();
    },
  };
}
