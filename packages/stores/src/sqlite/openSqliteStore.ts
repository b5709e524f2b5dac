import type { PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Random } from '@behalf/kernel';
import { openKeyvCache } from '../keyvCache.ts';
import { createPendingWriteFiles } from '../pendingWriteFiles.ts';
import { createSqliteAcl } from './acl.ts';
import { createSqliteApiKeys } from './apiKeys.ts';
import { createSqliteAttempts } from './attempts.ts';
import { createSqliteAudit } from './audit.ts';
import { createSqliteCacheAdapter } from './cacheAdapter.ts';
import { createSqliteChanges } from './changes.ts';
import { createSqliteConversations } from './conversations.ts';
import { createSqliteCredentials } from './credentials.ts';
import { createSqliteCredentialUsage } from './credentialUsage.ts';
import { openDatabase } from './database.ts';
import { createSqliteDrafts } from './drafts.ts';
import { createSqliteAuthorizationServer } from './authorizationServer.ts';
import { createSqliteLeases } from './leases.ts';
import { createSqliteOAuthClients } from './oauthClients.ts';
import { createSqliteOAuthFlows } from './oauthFlows.ts';
import { createSqliteOverrides } from './overrides.ts';
import { createSqliteOwned } from './owned.ts';
import { createSqliteRaw } from './raw.ts';
import { createSqliteRoles } from './roles.ts';
import { createSqliteRuns } from './runs.ts';
import { createSqliteServers } from './servers.ts';
import { createSqliteSessions } from './sessions.ts';
import { createSqliteSystem } from './system.ts';
import { createTable } from './table.ts';
import { createSqliteTickets } from './tickets.ts';
import { createSqliteUsers } from './users.ts';
import { createSqliteVariables } from './variables.ts';

export interface SqliteParts {
  file: string;
  clock: Clock;
  random: Random;
  /** How often another process's changes are looked for. */
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
