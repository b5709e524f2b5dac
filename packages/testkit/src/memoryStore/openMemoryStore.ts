import type { PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Random } from '@behalf/kernel';
import { createChangeListeners } from '@behalf/stores';
import { openKeyvCache } from '@behalf/stores';
import { createPendingWriteMap } from '@behalf/stores';
import { createMemoryAcl, createMemoryRoles } from './access.ts';
import {
  createMemoryApiKeys,
  createMemorySessions,
  createMemoryTickets,
  createMemoryUsers,
} from './accounts.ts';
import { createMemoryAudit } from './audit.ts';
import { createMemoryAuthorizationServer } from './authorizationServer.ts';
import { createMemoryOwned, createMemoryRuns } from './blocks.ts';
import { createMemoryConversations } from './conversations.ts';
import { createMemoryAttempts, createMemoryLeases } from './coordination.ts';
import {
  createMemoryCredentialUsage,
  createMemoryCredentials,
  createMemoryVariables,
} from './credentials.ts';
import { createMemoryOAuthClients, createMemoryOAuthFlows } from './oauthFlows.ts';
import { createMemoryRaw } from './raw.ts';
import { createMemoryDrafts, createMemoryOverrides, createMemoryServers } from './servers.ts';
import { createMemorySystem } from './system.ts';
import { createTables } from './tables.ts';

/** A store in memory for tests. It is also the shortest specification of each port. */
export function openMemoryStore({ clock, random }: { clock: Clock; random: Random }): PrimaryStore {
  const tables = createTables();
  const listeners = createChangeListeners();
  return {
    kind: 'memory',
    users: createMemoryUsers(tables),
    sessions: createMemorySessions(tables),
    tickets: createMemoryTickets(tables),
    variables: createMemoryVariables(tables),
    servers: createMemoryServers(tables),
    acl: createMemoryAcl(tables),
    apiKeys: createMemoryApiKeys(tables),
    audit: createMemoryAudit(tables),
    drafts: createMemoryDrafts(tables),
    blocks: createMemoryOwned(tables.blocks),
    sets: createMemoryOwned(tables.sets),
    runs: createMemoryRuns(tables),
    conversations: createMemoryConversations(tables),
    credentials: createMemoryCredentials(tables, clock),
    credentialUsage: createMemoryCredentialUsage(tables),
    authorizationServer: createMemoryAuthorizationServer(tables),
    oauthClients: createMemoryOAuthClients(tables),
    oauthFlows: createMemoryOAuthFlows(),
    overrides: createMemoryOverrides(tables),
    roles: createMemoryRoles(tables),
    system: createMemorySystem(tables, clock),
    raw: createMemoryRaw(tables),
    attempts: createMemoryAttempts(clock),
    leases: createMemoryLeases({ clock, random }),
    changes: {
      publish: async (notice) => listeners.emit(notice),
      subscribe: (listener) => listeners.subscribe(listener),
      // There is only one process.
      syncedUntil: () => clock.now(),
    },
    pendingWrites: createPendingWriteMap(clock),
    cache: openKeyvCache('memory', () => new Map()),
    ping: async () => undefined,
    close: async () => undefined,
  };
}
