import { SealError, within, type Clock, type Keyring, type SealContext } from '@behalf/kernel';
import type { Cache } from '../../ports/index.ts';
import type { Log } from '../../upstream/parts.ts';
import type { ExchangerLimits } from './exchangerLimits.ts';
import type { KeptToken } from './keptToken.ts';

/** Tokens that all processes share, sealed. No failure of it is a failure of a call: it costs an exchange. */
export interface SharedTier {
  /** False for a while after it failed: nothing is gained by waiting for what others put there. */
  readonly answers: boolean;
  get(key: string): Promise<KeptToken | undefined>;
  /** Unless one that was asked for later is there already. */
  put(key: string, kept: KeptToken): Promise<void>;
  delete(key: string): Promise<void>;
  /** Only that very token. */
  deleteToken(key: string, token: string): Promise<void>;
}

export interface SharedTierParts {
  readonly cache: Cache;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: Pick<ExchangerLimits, 'sharedMs' | 'outageMs'>;
}

export function createSharedTier({ cache, keyring, clock, log, limits }: SharedTierParts): SharedTier {
  let quietUntil = -Infinity;
  const isQuiet = () => clock.now() < quietUntil;

  async function ask<T>(operation: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await within(clock, limits.sharedMs, work(), () => {
        throw new Error('no answer in time');
      });
    } catch (error) {
      quietUntil = clock.now() + limits.outageMs;
      log('obo_cache_failed', { operation, reason: error instanceof Error ? error.message : 'unknown' });
      return undefined;
    }
  }

  async function read(key: string): Promise<KeptToken | undefined> {
    const sealed = await ask('get', async () => cache.get(key));
    if (sealed === undefined) return undefined;
    const kept = unseal(sealed, key);
    if (typeof kept !== 'string') return kept.until > clock.now() ? kept : undefined;
    // Somebody wrote to the store, or a key is gone: whatever it is, it is no token of ours.
    log('obo_cache_unreadable', { reason: kept });
    await ask('delete', async () => cache.delete(key));
    return undefined;
  }

  /** Or the reason why it does not open. */
  function unseal(sealed: string, key: string): KeptToken | string {
    try {
      return asKept(JSON.parse(keyring.open(sealed, contextOf(key)))) ?? 'malformed';
    } catch (error) {
      // A parser's own words would quote what it read.
      return error instanceof SealError ? error.reason : 'malformed';
    }
  }

  return {
    get answers() {
      return !isQuiet();
    },
    get: async (key) => (isQuiet() ? undefined : read(key)),
    async put(key, kept) {
      const before = isQuiet() ? undefined : await read(key);
      if (isQuiet() || (before && before.askedAt > kept.askedAt)) return;
      const left = kept.until - clock.now();
      if (left <= 0) return;
      await ask('set', async () => cache.set(key, keyring.seal(JSON.stringify(kept), contextOf(key)), left));
    },
    // Tried even while it is quiet: what is to be forgotten matters more than a second.
    delete: async (key) => void (await ask('delete', async () => cache.delete(key))),
    async deleteToken(key, token) {
      const kept = await read(key);
      if (kept?.token.token === token) await ask('delete', async () => cache.delete(key));
    },
  };
}

/** The key names tenant, user, server and all the rest: a value under another key does not open. */
function contextOf(key: string): SealContext {
  return { tenant: '-', principal: '-', server: '-', kind: 'obo', field: 'token', binding: [key] };
}

/** Another version of the gateway may have written it. */
function asKept(value: unknown): KeptToken | undefined {
  const { token, until, askedAt } = (value ?? {}) as Partial<KeptToken>;
  const isWhole = typeof until === 'number' && typeof askedAt === 'number' && !!token?.token;
  return isWhole ? { token, until, askedAt } : undefined;
}
