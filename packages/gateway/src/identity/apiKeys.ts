import type { ApiKeyScope } from '@behalf/contracts';
import type { Clock, Random } from '@behalf/kernel';
import { actorOf, type Audit } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ApiKeyRecord, ApiKeyStore, ChangeFeed, UserStore } from '../ports/index.ts';
import { type UserPrincipal, isActiveUser, toPrincipal } from '../principal/principal.ts';
import type { ResolvedCaller } from './callerCache.ts';
import { generateSecret, hashSecret } from './hashSecret.ts';

/** The prefix of every API key. Scanners for leaked secrets and Behalf itself recognize a key by it. */
export const API_KEY_PREFIX = 'bhf_';
const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_KEYS = 25;
/** The resolution of `lastUsedAt`. A write for each call would cost more than the call. */
const TOUCH_INTERVAL_MS = 5 * 60 * 1000;

interface ApiKeyInput {
  readonly name: string;
  readonly scopes: readonly ApiKeyScope[];
  readonly expiresInDays: number;
}

/** API keys: programs of a user call in the user's name, within the scopes that the user chose. */
export interface ApiKeys {
  /** Returns the key in clear. The store keeps only its hash. */
  create(owner: UserPrincipal, key: ApiKeyInput): Promise<{ key: string; record: ApiKeyRecord }>;
  list(owner: UserPrincipal): Promise<ApiKeyRecord[]>;
  remove(owner: UserPrincipal, id: string): Promise<void>;
  /** The current owner of the key; null if the key is unknown, or its user is deleted or disabled. */
  resolve(key: string): Promise<ResolvedCaller | null>;
  sweep(): Promise<number>;
}

interface ApiKeyParts {
  readonly store: ApiKeyStore;
  readonly users: UserStore;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly random: Random;
  readonly audit: Audit;
}

export function createApiKeys({ store, users, changes, clock, random, audit }: ApiKeyParts): ApiKeys {
  const auditKey = (owner: UserPrincipal, action: string, { id: subject, scopes: changed }: ApiKeyRecord) =>
    audit.record({
      ...{ kind: 'credential', action, tenant: owner.tenant, actor: actorOf(owner) },
      ...{ door: 'rest', outcome: 'ok', subject, changed },
    });

  return {
    async create(owner, { name, scopes, expiresInDays }) {
      if ((await store.list(owner.userId)).length >= MAX_KEYS) throw new GatewayError('API_KEY_LIMIT');
      const key = `${API_KEY_PREFIX}${generateSecret(random)}`;
      const now = clock.now();
      const record: ApiKeyRecord = {
        id: random.id(),
        hash: hashSecret(key),
        tenant: owner.tenant,
        userId: owner.userId,
        name,
        hint: key.slice(-4),
        scopes: [...new Set(scopes)].sort(),
        createdAt: now,
        expiresAt: now + expiresInDays * DAY_MS,
        lastUsedAt: null,
      };
      await store.insert(record);
      await auditKey(owner, 'api_key.create', record);
      return { key, record };
    },
    list: (owner) => store.list(owner.userId),
    async remove(owner, id) {
      const removed = await store.remove(owner.userId, id);
      if (!removed) throw new GatewayError('API_KEY_NOT_FOUND');
      await changes.publish({ topic: 'apiKeys', id: removed.hash });
      await auditKey(owner, 'api_key.delete', removed);
    },
    async resolve(key) {
      const now = clock.now();
      const record = await store.findByHash(hashSecret(key), now);
      const user = record && (await users.findById(record.userId));
      if (!record || !isActiveUser(user, record.tenant)) return null;
      if (record.lastUsedAt === null || now - record.lastUsedAt >= TOUCH_INTERVAL_MS)
        await store.touch(record.id, now);
      const { id, scopes, expiresAt: until } = record;
      return { caller: toPrincipal(user, { via: 'api_key', key: id, scopes, expiresAt: until }), until };
    },
    sweep: () => store.removeExpired(clock.now()),
  };
}
