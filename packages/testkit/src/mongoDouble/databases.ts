import { createCollection, type Collection } from './collection.ts';

/** All databases of the double: nothing exists until the first write names it, as in MongoDB. */
export interface Databases {
  find(db: string, name: string): Collection | undefined;
  ensure(db: string, name: string): Collection;
  names(db: string): string[];
  drop(db: string, name: string): boolean;
  dropAll(db: string): void;
  /** Removes what every TTL index says is over. */
  removeExpired(now: number): number;
}

export function createDatabases(now: () => number): Databases {
  const databases = new Map<string, Map<string, Collection>>();

  return {
    find: (db, name) => databases.get(db)?.get(name),
    ensure(db, name) {
      const collections = databases.get(db) ?? new Map<string, Collection>();
      databases.set(db, collections);
      const collection = collections.get(name) ?? createCollection(`${db}.${name}`, new Date(now()));
      collections.set(name, collection);
      return collection;
    },
    names: (db) => [...(databases.get(db)?.keys() ?? [])],
    drop: (db, name) => databases.get(db)?.delete(name) ?? false,
    dropAll: (db) => void databases.delete(db),
    removeExpired(now) {
      let removed = 0;
      for (const collections of databases.values()) {
        for (const collection of collections.values()) removed += collection.removeExpired(now);
      }
      return removed;
    },
  };
}
