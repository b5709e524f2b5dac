import type { Leases } from '@behalf/kernel';
import type { AclStore, RoleStore } from './access.ts';
import type { ApiKeyStore, SessionStore, TicketStore, UserStore } from './accounts.ts';
import type { AuditStore } from './audit.ts';
import type { AuthorizationServerStore } from './authorizationServer.ts';
import type { BlockStore, RunStore, SetStore } from './blocks.ts';
import type { RawCollections } from './collections.ts';
import type { ConversationStore } from './conversations.ts';
import type { AttemptCounter, ChangeFeed, OpenCache, PendingWriteStore } from './coordination.ts';
import type { CredentialStore, CredentialUsageStore, UserVariableStore } from './credentials.ts';
import type { OAuthClientStore, OAuthFlowStore } from './oauthFlows.ts';
import type { DraftStore, OverrideStore, ServerStore } from './servers.ts';

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

/** For how long a writer that gave no further sign of life counts as alive. */
export const WRITER_TTL_MS = 15_000;

/** What a store knows of itself: whose key seals it, which gateways write it, whether it is being moved. */
export interface SystemStore {
  /** Stores `candidate` if there is no key check yet, and returns the one that counts. */
  getOrCreateKeyCheck(candidate: string): Promise<string>;
  /**
   * A gateway's sign of life, repeated before `ttlMs` is over. Refused while the store is in maintenance, and while it
   * holds half a copy: a gateway would serve half of the accounts, and its writes would be in the way of the rest.
   */
  heartbeat(writer: string, ttlMs: number): Promise<'announced' | 'in_maintenance'>;
  removeWriter(writer: string): Promise<void>;
  /**
   * Takes maintenance or prolongs it, as one step: refused while any gateway or another owner is alive. `begun` to an
   * owner that had begun before means that its hold lapsed, and anybody may have written meanwhile.
   */
  beginMaintenance(owner: string, ttlMs: number): Promise<'begun' | 'prolonged' | 'refused'>;
  endMaintenance(owner: string): Promise<void>;
  /** The name of this very store, `candidate` if it has none yet. No copy takes it along. */
  getOrCreateIdentity(candidate: string): Promise<string>;
  /** The identity of the store whose unfinished copy this is. */
  getCopySource(): Promise<string | null>;
  /** Marks the store as an unfinished copy; null when the copy is complete. */
  setCopySource(source: string | null): Promise<void>;
}
