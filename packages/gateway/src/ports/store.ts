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

/** State that all replicas share: Redis, or the primary store itself. */
export interface CoordinationStore {
  /** `/ready` returns it: `ReadyView` in `contracts` lists the same names. */
  readonly kind: 'memory' | 'sqlite' | 'mongo' | 'redis';
  readonly leases: Leases;
  readonly changes: ChangeFeed;
  readonly attempts: AttemptCounter;
  readonly cache: OpenCache;
  readonly pendingWrites: PendingWriteStore;
  /** Resolves if the store answers; otherwise rejects. */
  ping(): Promise<void>;
  /**
   * Idempotent. Operations in progress finish or fail within the store's own deadline. Later operations are
   * rejected.
   */
  close(): Promise<void>;
}

/** The durable store: SQLite or MongoDB. Without Redis it also provides the coordination store. */
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

/** How long a replica counts as active after its last heartbeat. */
export const WRITER_TTL_MS = 15_000;

/** Data about the store itself: its encryption key, the replicas that write to it, and a copy in progress. */
export interface SystemStore {
  /** Stores `candidate` if there is no key check yet. Returns the stored one. */
  getOrCreateKeyCheck(candidate: string): Promise<string>;
  /**
   * Announces a replica; repeat before `ttlMs` passes. Refused during maintenance and while the store is an
   * incomplete copy: a gateway would serve part of the accounts, and its writes would conflict with the copy.
   */
  heartbeat(writer: string, ttlMs: number): Promise<'announced' | 'in_maintenance'>;
  removeWriter(writer: string): Promise<void>;
  /**
   * Starts or extends maintenance atomically. Refused while a replica or another owner is active. If an owner that
   * already started receives `begun` again, its maintenance had expired and others may have written.
   */
  beginMaintenance(owner: string, ttlMs: number): Promise<'begun' | 'prolonged' | 'refused'>;
  endMaintenance(owner: string): Promise<void>;
  /** The identity of this store; stores `candidate` if it has none yet. A copy does not include it. */
  getOrCreateIdentity(candidate: string): Promise<string>;
  /** The identity of the source if this store is an incomplete copy. */
  getCopySource(): Promise<string | null>;
  /** Marks the store as an incomplete copy; null when the copy is complete. */
  setCopySource(source: string | null): Promise<void>;
}
