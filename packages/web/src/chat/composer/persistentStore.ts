import { createStore, type Store } from '../../app/store.ts';

/** A choice that the browser remembers: each user's own, also where several use one browser. */
export function createUserStores<T>(
  name: string,
  parse: (stored: unknown) => T,
): (userId: string) => Store<T> {
  const byUser = new Map<string, Store<T>>();
  return (userId) => {
    const existing = byUser.get(userId);
    if (existing) return existing;
    const store = createPersistentStore(`behalf.${name}.${userId}`, parse);
    byUser.set(userId, store);
    return store;
  };
}

/** Storage can be switched off; then it holds until the page is closed. */
function createPersistentStore<T>(key: string, parse: (stored: unknown) => T): Store<T> {
  let stored: unknown;
  try {
    stored = JSON.parse(localStorage.getItem(key) ?? 'null');
  } catch {
    stored = null;
  }
  const store = createStore(parse(stored));
  store.subscribe(() => {
    try {
      localStorage.setItem(key, JSON.stringify(store.get()));
    } catch {
      // See above.
    }
  });
  return store;
}
