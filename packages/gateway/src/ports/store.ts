import type { Leases } from '@behalf/kernel';
import type { AclStore } from './acl.ts';
import type { ApiKeyStore } from './apiKeys.ts';
import type { AttemptCounter } from './attempts.ts';
import type { AuditStore } from './audit.ts';
import type { BlockStore } from './blocks.ts';
import type { OpenCache } from './cache.ts';
import type { ChangeFeed } from './changes.ts';
import type { RawCollections } from './collections.ts';
import type { ConversationStore } from './conversations.ts';
import type { CredentialStore, CredentialUsageStore } from './credentials.ts';
import type { DraftStore } from './drafts.ts';
import type { AuthorizationServerStore } from './authorizationServer.ts';
import type { OAuthClientStore, OAuthFlowStore } from './oauthFlows.ts';
import type { PendingWriteStore } from './pendingWrites.ts';
import type { OverrideStore } from './overrides.ts';
import type { RoleStore } from './roles.ts';
import type { RunStore } from './runs.ts';
import type { ServerStore } from './servers.ts';
import type { SessionStore } from './sessions.ts';
import type { SetStore } from './sets.ts';
import type { SystemStore } from './system.ts';
import type { TicketStore } from './tickets.ts';
import type { UserStore } from './users.ts';
import type { UserVariableStore } from './variables.ts';

/** What all processes share for as long as it lives: Redis, or the primary store itself. */
export interface CoordinationStore {
  readonly kind: 'memory' | 'sqlite' | 'mongo' | 'redis';
  readonly leases: Leases;
  readonly changes: ChangeFeed;
  readonly attempts: AttemptCounter;
  readonly cache: OpenCache;
  readonly pendingWrites: PendingWriteStore;
  /** Resolves when the store answers; rejects when it does not. */
  ping(): Promise<void>;
  /**
   * Idempotent. What is in flight finishes first, or fails as it would have without the closing, within the store's own
   * deadline; what is asked later is refused.
   */
  close(): Promise<void>;
}

/** What must never be lost: SQLite or MongoDB. It can coordinate too when there is no Redis. */
export interface PrimaryStore extends CoordinationStore {
  readonly kind: 'memory' | 'sqlite' | 'mongo';
  readonly users: UserStore;
  readonly sessions: SessionStore;
  readonly tickets: TicketStore;
  readonly variables: UserVariableStore;
  readonly servers: ServerStore;
  readonly overrides: OverrideStore;
  readonly roles: RoleStore;
  readonly acl: AclStore;
  readonly apiKeys: ApiKeyStore;
  readonly credentials: CredentialStore;
  readonly credentialUsage: CredentialUsageStore;
  readonly oauthFlows: OAuthFlowStore;
  readonly oauthClients: OAuthClientStore;
  readonly drafts: DraftStore;
  readonly conversations: ConversationStore;
  readonly blocks: BlockStore;
  readonly sets: SetStore;
  readonly runs: RunStore;
  readonly authorizationServer: AuthorizationServerStore;
  readonly audit: AuditStore;
  readonly system: SystemStore;
  readonly raw: RawCollections;
}
