import { createStore, type Store } from '../../app/store.ts';

/** A choice that the browser remembers: each user's own, also where several use one browser. */
export function rememberedByUser<T>(
  name: string,
  read: (stored: unknown) => T,
): (userId: string) => Store<T> {
  const byUser = new Map<string, Store<T>>();
  return (userId) => {
    const known = byUser.get(userId);
    if (known) return known;
    const store = rememberedStore(`behalf.${name}.${userId}`, read);
    byUser.set(userId, store);
    return store;
  };
}

/** Storage can be switched off; then it holds until the page is closed. */
function rememberedStore<T>(key: string, read: (stored: unknown) => T): Store<T> {
  let stored: unknown;
  try {
    stored = JSON.parse(localStorage.getItem(key) ?? 'null');
  } catch {
    stored = null;
  }
  const store = createStore(read(stored));
  store.subscribe(() => {
    try {
      localStorage.setItem(key, JSON.stringify(store.get()));
    } catch {
      // See above.
    }
  });
  return store;
}
