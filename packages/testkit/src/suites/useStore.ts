import { afterEach, beforeEach } from '@jest/globals';

/** Opens a fresh, empty store for the test. */
export type OpenStore<S> = () => Promise<S>;

/** A fresh store for each test of the surrounding `describe`, closed after it. */
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
