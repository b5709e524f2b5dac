import { afterEach, beforeEach } from '@jest/globals';

/** Opens an empty store for a test. */
export type OpenStore<S> = () => Promise<S>;

/** An empty store for each test of the enclosing `describe`, closed afterwards. */
export function useStore<S extends { close(): Promise<void> }>(open: OpenStore<S>): () => S {
  let store: S | undefined;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(async () => {
    await store?.close();
    store = undefined;
  });
  return () => {
    if (!store) throw new Error('The store is open only while a test runs');
    return store;
  };
}
