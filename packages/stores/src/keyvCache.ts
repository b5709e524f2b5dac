import type { OpenCache } from '@behalf/gateway/ports';
import { Keyv, type KeyvStoreAdapter } from 'keyv';
import { StoreUnavailableError } from './errors.ts';

interface CacheOptions {
  /** Keyv passes its namespace to the adapter and replaces the namespace of the adapter. */
  namespaceFor?: (namespace: string) => string;
  /** Runs a command with the deadline of the technology, if the adapter has none of its own. */
  run?: <T>(work: () => Promise<T>) => Promise<T>;
}

/** One cache per namespace on a Keyv adapter. */
export function openKeyvCache(
  store: string,
  adapterFor: (namespace: string) => KeyvStoreAdapter | Map<unknown, unknown>,
  { namespaceFor = (namespace) => namespace, run = (work) => work() }: CacheOptions = {},
): OpenCache {
  return (namespace) => {
    // Without `throwOnErrors`, Keyv reports an error as a cache miss and hides an outage.
    const keyv = new Keyv<string>({
      store: adapterFor(namespace),
      namespace: namespaceFor(namespace),
      useKeyPrefix: false,
      throwOnErrors: true,
      emitErrors: false,
    });
    // Keyv also emits the errors that it throws. An emitter without a listener would end the process.
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
