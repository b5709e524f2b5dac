import { type Cancel, type Clock, withTimeout } from '@behalf/kernel';
import {
  type ChangeEvent,
  type ChangeTopic,
  type CredentialKey,
  type CredentialRecord,
  type CredentialStore,
  credentialId,
  isCurrent,
} from '../../ports/index.ts';
import { createLruMap } from '../lruMap.ts';
import type { Dpop } from '../oauth/dpop.ts';
import type { GrantContext } from '../oauth/grantContext.ts';
import { type DecryptedTokens, openTokens } from './tokenPair.ts';
import type { ResolvedVaultParts } from './vault.ts';

/** Where credentials are read. All of it rejects when the store does not answer. */
export interface CredentialReader {
  /** A moment old at most, and read once for all who ask together. */
  readRecent(key: CredentialKey): Promise<CredentialSnapshot>;
  /** As the store has it now, with the refresh token. */
  readFresh(key: CredentialKey): Promise<CredentialSnapshot>;
  /** What we have just written is known without reading it. */
  updateCache(snapshot: CredentialSnapshot): void;
}

interface CredentialReaderParts extends Pick<ResolvedVaultParts, 'store' | 'keyring' | 'contexts' | 'dpop'> {
  readonly credentialCache: CredentialCache;
  readonly storeTime: StoreTime;
  /** With what this process could not store yet. */
  readonly applyPending: (record: CredentialRecord) => CredentialRecord;
}

export function createCredentialReader({
  store,
  credentialCache,
  storeTime,
  applyPending,
  ...parts
}: CredentialReaderParts): CredentialReader {
  const loadSnapshot = createLoadSnapshot(parts);
  const loads = new Map<
    string,
    { readonly read: PendingRead; readonly snapshot: Promise<CredentialSnapshot> }
  >();

  async function completeRead(
    key: CredentialKey,
    read: PendingRead,
    recordPromise: Promise<CredentialRecord | null>,
  ): Promise<CredentialSnapshot> {
    let snapshot: CredentialSnapshot | undefined;
    try {
      const record = await recordPromise;
      snapshot = await loadSnapshot(key, record && applyPending(record));
      return snapshot;
    } finally {
      credentialCache.endRead(read, snapshot);
    }
  }

  async function findRecord(key: CredentialKey): Promise<CredentialRecord | null> {
    const [record] = await Promise.all([store.find(key), storeTime.sample()]);
    return record;
  }

  return {
    async readRecent(key) {
      const id = credentialId(key);
      const cached = credentialCache.getFresh(id);
      if (cached) return cached;
      const pendingLoad = loads.get(id);
      if (pendingLoad && !pendingLoad.read.isInvalidated) return pendingLoad.snapshot;
      const read = credentialCache.beginRead(id);
      const load = { read, snapshot: completeRead(key, read, findRecord(key)) };
      loads.set(id, load);
      const removeLoad = () => {
        if (loads.get(id) === load) loads.delete(id);
      };
      load.snapshot.then(removeLoad, removeLoad);
      return load.snapshot;
    },
    readFresh: (key) => completeRead(key, credentialCache.beginRead(credentialId(key)), findRecord(key)),
    updateCache: (snapshot) =>
      credentialCache.endRead(credentialCache.beginRead(credentialId(snapshot.key)), snapshot),
  };
}

/**
 * Whether a credential is still for what the server is now. `old_client`: we registered anew there, so that the refresh
 * token is nobody's; the access token is as good as before.
 */
type BindingStatus = 'bound' | 'old_client' | 'unbound';

/** A credential as it was at one moment, with everything that decides about it. */
export interface CredentialSnapshot {
  readonly key: CredentialKey;
  /** Null: there is none. */
  readonly record: CredentialRecord | null;
  /** Undefined: gone, or it does not open. */
  readonly tokens: DecryptedTokens | undefined;
  readonly bindingStatus: BindingStatus;
  readonly context: GrantContext | undefined;
}

/** Reads it anew. Rejects when the store, or who knows the definitions, does not answer. */
type LoadSnapshot = (key: CredentialKey, record: CredentialRecord | null) => Promise<CredentialSnapshot>;

function createLoadSnapshot({
  keyring,
  contexts,
  dpop,
}: Pick<ResolvedVaultParts, 'keyring' | 'contexts' | 'dpop'>): LoadSnapshot {
  return async (key, record) => {
    if (record?.sealed == null)
      return { key, record, tokens: undefined, bindingStatus: 'bound', context: undefined };
    const found = await contexts.resolve(record);
    const context = found === 'unbound' ? undefined : found;
    const tokens = withProver(openTokens(keyring, record), dpop);
    return { key, record, tokens, bindingStatus: checkBinding(record, context), context };
  };
}

function withProver(tokens: DecryptedTokens | undefined, dpop: Dpop): DecryptedTokens | undefined {
  return tokens?.dpopKey ? { ...tokens, prover: dpop.proverFor(tokens.dpopKey) } : tokens;
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

const MAX_ENTRIES = 20_000;
/** What a credential is for is decided by these: with one of them it may fit no longer. */
const DEFINITION_TOPICS: ReadonlySet<ChangeTopic> = new Set(['servers', 'overrides', 'settings']);

/** A read that is under way. */
interface PendingRead {
  readonly id: string;
  readonly startedAt: number;
  /** A notice came meanwhile: what it brings is good for who asked, and for nobody after. */
  isInvalidated: boolean;
}

/** Credentials as they were a moment ago: at most two seconds, and not after a notice. Holds no refresh token. */
export interface CredentialCache {
  getFresh(id: string): CredentialSnapshot | undefined;
  /** The same while the store does not answer: older, but not by much. */
  getStale(id: string): CredentialSnapshot | undefined;
  beginRead(id: string): PendingRead;
  endRead(read: PendingRead, snapshot?: CredentialSnapshot): void;
  invalidate(change: ChangeEvent): void;
  clear(): void;
}

interface Entry {
  readonly snapshot: CredentialSnapshot;
  readonly readAt: number;
  /** The notices about everybody that had been heard when it was read. */
  readonly wipeEpoch: number;
}

export function createCredentialCache({
  changes,
  localClock,
  timings,
}: Pick<ResolvedVaultParts, 'changes' | 'localClock' | 'timings'>): CredentialCache {
  const entries = createLruMap<Entry>(MAX_ENTRIES);
  const pendingReads = new Set<PendingRead>();
  let wipeEpoch = 0;

  function findValid(id: string): Entry | undefined {
    const entry = entries.get(id);
    return entry?.wipeEpoch === wipeEpoch ? entry : undefined;
  }

  return {
    getFresh(id) {
      const entry = findValid(id);
      const now = localClock.now();
      if (!entry || !isCurrent(changes, now, entry.readAt)) return undefined;
      return entry.snapshot.record || now - entry.readAt < timings.absentCacheMs ? entry.snapshot : undefined;
    },
    getStale(id) {
      const entry = findValid(id);
      if (!entry) return undefined;
      const verifiedAt = Math.max(entry.readAt, changes.syncedUntil());
      return localClock.now() - verifiedAt < timings.maxStaleMs ? entry.snapshot : undefined;
    },
    beginRead(id) {
      const read = { id, startedAt: localClock.now(), isInvalidated: false };
      pendingReads.add(read);
      return read;
    },
    endRead(read, snapshot) {
      pendingReads.delete(read);
      if (!snapshot || read.isInvalidated) return;
      const previous = findValid(read.id);
      if (previous && previous.readAt > read.startedAt) return;
      const tokens = snapshot.tokens && { ...snapshot.tokens, refreshToken: undefined };
      entries.set(credentialId(snapshot.key), {
        snapshot: { ...snapshot, tokens },
        readAt: read.startedAt,
        wipeEpoch,
      });
    },
    invalidate({ topic, id }) {
      const affectsAll = DEFINITION_TOPICS.has(topic) || (topic === 'credentials' && id === '*');
      if (!affectsAll && topic !== 'credentials') return;
      for (const read of pendingReads) if (affectsAll || read.id === id) read.isInvalidated = true;
      if (affectsAll) wipeEpoch += 1;
      else entries.delete(id);
    },
    clear: () => entries.clear(),
  };
}

/** What changed, here and elsewhere. */
export interface ChangeBus {
  /** Tells everybody; a feed that does not answer is no reason to fail, nor to wait. */
  publish(id: string): Promise<void>;
  /** Until something is told of this credential, but for so long at most. */
  waitForChange(id: string, timeoutMs: number): Promise<void>;
  /** Ends the waiting of all who wait. */
  wakeAll(): void;
  onChange(listener: (id: string) => void): () => void;
  close(): void;
}

interface ChangeBusParts extends Pick<ResolvedVaultParts, 'changes' | 'localClock' | 'log' | 'timings'> {
  /** First of all: what is known must be doubted before anybody acts on the notice. */
  readonly invalidate: (change: ChangeEvent) => void;
}

export function createChangeBus({
  changes,
  localClock,
  log,
  timings,
  invalidate,
}: ChangeBusParts): ChangeBus {
  const waiters = new Map<string, Set<() => void>>();
  const listeners = new Set<(id: string) => void>();

  function wake(id: string): void {
    const wakersToCall =
      id === '*' ? [...waiters.values()].flatMap((wakers) => [...wakers]) : [...(waiters.get(id) ?? [])];
    for (const waker of wakersToCall) waker();
  }

  function notifyListeners(id: string): void {
    wake(id);
    for (const listener of [...listeners]) {
      try {
        listener(id);
      } catch (error) {
        log('vault_listener_failed', { reason: error instanceof Error ? error.name : 'unknown' });
      }
    }
  }

  const unsubscribe = changes.subscribe((change) => {
    invalidate(change);
    if (change.topic === 'credentials') notifyListeners(change.id);
  });

  return {
    async publish(id) {
      try {
        const published = changes.publish({ topic: 'credentials', id });
        await withTimeout(localClock, timings.storeTimeoutMs, published, () => {
          throw new Error('the request timed out');
        });
      } catch (error) {
        log('vault_publish_failed', { reason: error instanceof Error ? error.name : 'unknown' });
        // Others find out within their staleness; this process knows already.
        invalidate({ topic: 'credentials', id });
        notifyListeners(id);
      }
    },
    waitForChange(id, timeoutMs) {
      return new Promise((resolve) => {
        const wakers = waiters.get(id) ?? new Set();
        waiters.set(id, wakers);
        let cancel: Cancel = () => undefined;
        const done = () => {
          cancel();
          wakers.delete(done);
          if (wakers.size === 0 && waiters.get(id) === wakers) waiters.delete(id);
          resolve();
        };
        wakers.add(done);
        cancel = localClock.timer(timeoutMs, done, { keepAlive: true });
      });
    },
    wakeAll: () => wake('*'),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      unsubscribe();
      listeners.clear();
    },
  };
}

const SAMPLE_INTERVAL_MS = 60_000;

/** The time of all processes: the store's. A clock that is minutes off makes no token older or younger than it is. */
interface StoreTime {
  readonly clock: Clock;
  /** Compares the clocks where that is due. What was known before holds while the store does not answer. */
  sample(): Promise<void>;
}

export function createStoreTime(store: Pick<CredentialStore, 'now'>, local: Clock): StoreTime {
  let offsetMs = 0;
  let sampledAt = -Infinity;
  let pendingSample: Promise<void> | undefined;

  async function measureOffset(): Promise<void> {
    const startedAt = local.now();
    try {
      const storeNow = await store.now();
      // It was told somewhere between the question and the answer.
      offsetMs = Math.round(storeNow - (startedAt + local.now()) / 2);
      sampledAt = startedAt;
    } catch {
      // What was known before holds; the next one asks again.
    } finally {
      pendingSample = undefined;
    }
  }

  return {
    clock: {
      now: () => local.now() + offsetMs,
      timer: (ms, fn, options) => local.timer(ms, fn, options),
    },
    async sample() {
      if (local.now() - sampledAt < SAMPLE_INTERVAL_MS) return;
      // Who comes meanwhile waits too: until the first answer every time is this process's own.
      await (pendingSample ??= measureOffset());
    },
  };
}
