import { SealError, withTimeout, type Clock, type Keyring, type SealContext } from '@behalf/kernel';
import type { Cache } from '../../ports/index.ts';
import type { Log } from '../../upstream/parts.ts';
import type { ExchangerLimits } from './exchangerLimits.ts';
import type { CachedToken } from './cachedToken.ts';

/** Tokens that all processes share, sealed. No failure of it is a failure of a call: it costs an exchange. */
export interface SharedTier {
  /** False for a while after it failed: nothing is gained by waiting for what others put there. */
  readonly isAvailable: boolean;
  get(key: string): Promise<CachedToken | undefined>;
  /** Unless one that was asked for later is there already. */
  put(key: string, cached: CachedToken): Promise<void>;
  delete(key: string): Promise<void>;
  /** Only that very token. */
  deleteToken(key: string, token: string): Promise<void>;
}

export interface SharedTierParts {
  readonly cache: Cache;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: Pick<ExchangerLimits, 'sharedTimeoutMs' | 'cachePauseMs'>;
}

export function createSharedTier({ cache, keyring, clock, log, limits }: SharedTierParts): SharedTier {
  let pausedUntil = -Infinity;
  const isPaused = () => clock.now() < pausedUntil;

  async function callCache<T>(operation: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await withTimeout(clock, limits.sharedTimeoutMs, work(), () => {
        throw new Error('timed out');
      });
    } catch (error) {
      pausedUntil = clock.now() + limits.cachePauseMs;
      log('obo_cache_failed', { operation, reason: error instanceof Error ? error.message : 'unknown' });
      return undefined;
    }
  }

  async function read(key: string): Promise<CachedToken | undefined> {
    const sealed = await callCache('get', async () => cache.get(key));
    if (sealed === undefined) return undefined;
    const cached = unseal(sealed, key);
    if (typeof cached !== 'string') return cached.usableUntil > clock.now() ? cached : undefined;
    // Somebody wrote to the store, or a key is gone: whatever it is, it is no token of ours.
    log('obo_cache_unreadable', { reason: cached });
    await callCache('delete', async () => cache.delete(key));
    return undefined;
  }

  /** Or the reason why it does not open. */
  function unseal(sealed: string, key: string): CachedToken | string {
    try {
      return parseCachedToken(JSON.parse(keyring.open(sealed, toSealContext(key)))) ?? 'malformed';
    } catch (error) {
      // A parser's own words would quote what it read.
      return error instanceof SealError ? error.reason : 'malformed';
    }
  }

  return {
    get isAvailable() {
      return !isPaused();
    },
    get: async (key) => (isPaused() ? undefined : read(key)),
    async put(key, cached) {
      const existing = isPaused() ? undefined : await read(key);
      if (isPaused() || (existing && existing.requestedAt > cached.requestedAt)) return;
      const remainingMs = cached.usableUntil - clock.now();
      if (remainingMs <= 0) return;
      await callCache('set', async () =>
        cache.set(key, keyring.seal(JSON.stringify(cached), toSealContext(key)), remainingMs),
      );
    },
    // Tried even while it is quiet: what is to be forgotten matters more than a second.
    delete: async (key) => void (await callCache('delete', async () => cache.delete(key))),
    async deleteToken(key, token) {
      const cached = await read(key);
      if (cached?.token.token === token) await callCache('delete', async () => cache.delete(key));
    },
  };
}

/** The key names tenant, user, server and all the rest: a value under another key does not open. */
function toSealContext(key: string): SealContext {
  return { tenant: '-', principal: '-', server: '-', kind: 'obo', field: 'token', binding: [key] };
}

/** Another version of the gateway may have written it. */
function parseCachedToken(value: unknown): CachedToken | undefined {
  const { token, usableUntil, requestedAt } = (value ?? {}) as Partial<CachedToken>;
  const isComplete = typeof usableUntil === 'number' && typeof requestedAt === 'number' && !!token?.token;
  return isComplete ? { token, usableUntil, requestedAt } : undefined;
}
