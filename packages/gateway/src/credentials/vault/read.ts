import { type Cancel, type Clock, withTimeout } from '@behalf/kernel';
import {
  type ChangeEvent,
  type ChangeTopic,
  type CredentialKey,
  type CredentialRecord,
  type CredentialStore,
  credentialId,
} from '../../ports/index.ts';
import { createReplicatedCache } from '../../replication/replicatedCache.ts';
import type { GrantContext } from '../oauth/grantContext.ts';
import { type DecryptedTokens, openTokens } from './tokenPair.ts';
import { type VaultCore, errorName } from './vault.ts';

/**
 * `bound`: the credential fits the current server definition. `old_client`: this gateway registered a new client
 * since; the refresh token is unusable, the access token is not. `unbound`: the credential must not be used.
 */
type BindingStatus = 'bound' | 'old_client' | 'unbound';

/** A credential at one point in time, with everything that decides how it may be used. */
export interface CredentialSnapshot {
  readonly key: CredentialKey;
  /** Null if there is no credential. */
  readonly record: CredentialRecord | null;
  /** Undefined if there are none or they cannot be decrypted. */
  readonly tokens: DecryptedTokens | undefined;
  readonly bindingStatus: BindingStatus;
  readonly context: GrantContext | undefined;
}

const MAX_ENTRIES = 20_000;
/** A change of these can alter the binding of any credential. */
const DEFINITION_TOPICS: ReadonlySet<ChangeTopic> = new Set(['servers', 'overrides', 'settings']);

export type CredentialReader = ReturnType<typeof createCredentialReader>;

/**
 * Reads credentials, with a cache of at most two seconds staleness. The cache contains no refresh tokens.
 * `applyPending` adds tokens that this process could not store yet.
 */
export function createCredentialReader(
  core: VaultCore,
  storeTime: Pick<StoreTime, 'sample'>,
  applyPending: (record: CredentialRecord) => CredentialRecord,
) {
  const { store, keyring, contexts, dpop, changes, localClock, timings } = core;
  const cache = createReplicatedCache<CredentialSnapshot>({
    changes,
    clock: localClock,
    maxEntries: MAX_ENTRIES,
    maxStaleMs: timings.maxStaleMs,
    readsStale: false,
    affectedBy({ topic, id }) {
      if (DEFINITION_TOPICS.has(topic)) return 'all';
      if (topic !== 'credentials') return undefined;
      return id === '*' ? 'all' : { key: id };
    },
    isUsable: ({ record }, readAt) => record !== null || localClock.now() - readAt < timings.absentCacheMs,
  });

  async function load(key: CredentialKey): Promise<CredentialSnapshot> {
    const [stored] = await Promise.all([store.find(key), storeTime.sample()]);
    const record = stored && applyPending(stored);
    if (record?.sealed == null)
      return { key, record, tokens: undefined, bindingStatus: 'bound', context: undefined };
    const found = await contexts.resolve(record);
    const context = found === 'unbound' ? undefined : found;
    const opened = openTokens(keyring, record);
    const tokens = opened?.dpopKey ? { ...opened, prover: dpop.proverFor(opened.dpopKey) } : opened;
    return { key, record, tokens, bindingStatus: checkBinding(record, context), context };
  }

  return {
    /** From memory, if it is current. */
    getCached: (id: string): CredentialSnapshot | undefined => cache.get(id),
    /** From memory, also during an outage of the store of up to `maxStaleMs`. */
    getStale: (id: string): CredentialSnapshot | undefined => cache.getStale(id),
    /** At most two seconds old, without the refresh token. Rejects if the store fails. */
    readRecent: async (key: CredentialKey): Promise<CredentialSnapshot> =>
      cache.read(credentialId(key), async () => withoutRefreshToken(await load(key))),
    /** As stored now, with the refresh token. Rejects if the store fails. */
    async readFresh(key: CredentialKey): Promise<CredentialSnapshot> {
      const loaded: { snapshot?: CredentialSnapshot } = {};
      const cached = await cache.reload(credentialId(key), async () => {
        loaded.snapshot = await load(key);
        return withoutRefreshToken(loaded.snapshot);
      });
      return loaded.snapshot ?? cached;
    },
    /** Records what this process just wrote, or could not write. */
    updateCache: (snapshot: CredentialSnapshot) =>
      cache.set(credentialId(snapshot.key), withoutRefreshToken(snapshot)),
    invalidate: (change: ChangeEvent) => cache.invalidate(change),
    close: () => cache.close(),
  };
}

function withoutRefreshToken(snapshot: CredentialSnapshot): CredentialSnapshot {
  return { ...snapshot, tokens: snapshot.tokens && { ...snapshot.tokens, refreshToken: undefined } };
}

export function checkBinding(record: CredentialRecord, context: GrantContext | undefined): BindingStatus {
  if (!context) return 'unbound';
  const { binding, client } = context;
  const isSameBinding =
    binding.canonicalUrl === record.canonicalUrl &&
    binding.issuer === record.issuer &&
    binding.resource === record.resource;
  if (!isSameBinding) return 'unbound';
  if (binding.clientId === record.clientId) return 'bound';
  return client.source === 'dynamic' ? 'old_client' : 'unbound';
}

export type ChangeBus = ReturnType<typeof createChangeBus>;

/**
 * Publishes and receives changes of credentials. The cache of `createCredentialReader` must subscribe to the feed
 * first, so that listeners never read an invalidated entry.
 */
export function createChangeBus(
  { changes, localClock, log, timings }: VaultCore,
  invalidate: (change: ChangeEvent) => void,
) {
  const waiters = new Set<{ readonly id: string; readonly wake: () => void }>();
  const listeners = new Set<(id: string) => void>();

  function wake(id: string): void {
    for (const waiter of [...waiters]) if (id === '*' || waiter.id === id) waiter.wake();
  }

  function notifyListeners(id: string): void {
    wake(id);
    for (const listener of [...listeners]) {
      try {
        listener(id);
      } catch (error) {
        log('vault_listener_failed', { reason: errorName(error) });
      }
    }
  }

  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic === 'credentials') notifyListeners(id);
  });

  return {
    /** Does not reject. If the feed does not answer in time, other replicas notice within their staleness bound. */
    async publish(id: string): Promise<void> {
      try {
        const published = changes.publish({ topic: 'credentials', id });
        await withTimeout(localClock, timings.storeTimeoutMs, published, () => {
          throw new Error('the request timed out');
        });
      } catch (error) {
        log('vault_publish_failed', { reason: errorName(error) });
        invalidate({ topic: 'credentials', id });
        notifyListeners(id);
      }
    },
    /** Resolves at the next change of this credential, or after `timeoutMs`. */
    waitForChange(id: string, timeoutMs: number): Promise<void> {
      return new Promise((resolve) => {
        let cancel: Cancel = () => undefined;
        const wakeWaiter = () => {
          cancel();
          waiters.delete(waiter);
          resolve();
        };
        const waiter = { id, wake: wakeWaiter };
        waiters.add(waiter);
        cancel = localClock.timer(timeoutMs, wakeWaiter, { keepAlive: true });
      });
    },
    wakeAll: () => wake('*'),
    onChange(listener: (id: string) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close(): void {
      unsubscribe();
      listeners.clear();
    },
  };
}

const SAMPLE_INTERVAL_MS = 60_000;

export type StoreTime = ReturnType<typeof createStoreTime>;

/** The clock of the store, which all replicas share. Token lifetimes do not depend on the clock of one replica. */
export function createStoreTime(store: Pick<CredentialStore, 'now'>, local: Clock) {
  let offsetMs = 0;
  let sampledAt = -Infinity;
  let pendingSample: Promise<void> | undefined;

  async function measureOffset(): Promise<void> {
    const startedAt = local.now();
    try {
      const storeNow = await store.now();
      // The store read its clock at some time during the request: assume the middle.
      offsetMs = Math.round(storeNow - (startedAt + local.now()) / 2);
      sampledAt = startedAt;
    } catch {
      // Keep the last offset. The next call measures again.
    } finally {
      pendingSample = undefined;
    }
  }

  const clock: Clock = {
    now: () => local.now() + offsetMs,
    timer: (ms, fn, options) => local.timer(ms, fn, options),
  };
  return {
    clock,
    /** Measures the offset again if the last measurement is too old. Concurrent callers wait for one measurement. */
    async sample(): Promise<void> {
      if (local.now() - sampledAt < SAMPLE_INTERVAL_MS) return;
      await (pendingSample ??= measureOffset());
    },
  };
}
