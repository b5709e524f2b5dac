import type { OpenCache } from '@behalf/gateway/ports';
import { Keyv, type KeyvStoreAdapter } from 'keyv';
import { StoreUnavailableError } from './errors.ts';

interface CacheOptions {
  /** Keyv hands its namespace on to the adapter, replacing the adapter's own. */
  namespaceFor?: (namespace: string) => string;
  /** How the technology asks its server, where the adapter does not do it by itself. */
  run?: <T>(work: () => Promise<T>) => Promise<T>;
}

/** A cache per namespace over whatever Keyv adapter a technology offers. */
export function openKeyvCache(
  store: string,
  adapterFor: (namespace: string) => KeyvStoreAdapter | Map<unknown, unknown>,
  { namespaceFor = (namespace) => namespace, run = (work) => work() }: CacheOptions = {},
): OpenCache {
  return (namespace) => {
    // Without throwOnErrors Keyv turns a failure into a miss, and an outage into silence.
    const keyv = new Keyv<string>({
      store: adapterFor(namespace),
      namespace: namespaceFor(namespace),
      useKeyPrefix: false,
      throwOnErrors: true,
      emitErrors: false,
    });
    // Keyv also emits what it throws; an emitter without a listener would end the process.
    keyv.on('error', () => undefined);
    const withStoreErrors = async <T>(work: () => Promise<T>): Promise<T> => {
      try {
        return await run(work);
      } catch (cause) {
        throw cause instanceof StoreUnavailableError ? cause : new StoreUnavailableError(store, cause);
      }
    };
    return {
      get: (key) => withStoreErrors(() => keyv.get(key)),
      set: async (key, value, ttlMs) => void (await withStoreErrors(() => keyv.set(key, value, ttlMs))),
      delete: (key) => withStoreErrors(() => keyv.delete(key)),
      clear: () => withStoreErrors(() => keyv.clear()),
    };
  };
}
