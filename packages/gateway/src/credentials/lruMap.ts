/** A map of bounded size that forgets what was not used for longest. */
export interface LruMap<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
  clear(): void;
  /** The oldest first. */
  keys(): Iterable<string>;
  readonly size: number;
}

export function createLruMap<V>(maxEntries: number): LruMap<V> {
  // A map keeps the order of insertion: what is used is put at the end, so the first one is the oldest.
  const entries = new Map<string, V>();
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > maxEntries) entries.delete(entries.keys().next().value ?? '');
    },
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
    keys: () => entries.keys(),
    get size() {
      return entries.size;
    },
  };
}
