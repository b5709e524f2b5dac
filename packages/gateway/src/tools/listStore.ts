/** A stored value. Readers set `isUsed`. */
interface Evictable {
  isUsed: boolean;
  /** Estimated size in memory; 0 if absent. */
  readonly bytes?: number;
}

export interface ListStoreLimits {
  readonly lists?: number;
  readonly listsPerServer?: number;
  readonly bytes?: number;
  readonly bytesPerServer?: number;
}

/** Values of servers, such as lists or compiled schemas, within a number and a size. */
export interface ListStore<V extends Evictable> {
  get(serverKey: string, key: string): V | undefined;
  /** Replaces an existing value in place, or evicts other values and adds the new one. */
  set(serverKey: string, key: string, value: V): void;
  delete(serverKey: string, key: string): V | undefined;
  /** Evicts values until `set` needs to evict nothing for a new value of this size. */
  makeRoom(serverKey: string, bytes: number): void;
  /** Evicts from the server with the most values. */
  evictOne(): void;
  deleteServer(serverKey: string): void;
  hasRoom(serverKey: string, bytes: number): boolean;
  /** The values of one server. */
  entries(serverKey: string): Iterable<readonly [key: string, value: V]>;
  serverKeys(): Iterable<string>;
  readonly size: number;
}

interface ServerGroup<V> {
  readonly values: Map<string, V>;
  bytes: number;
}

/**
 * The eviction rule of the caches of lists and schemas: evict from the server that holds most, so a crowd of users or a large list of one
 * server evicts nothing of another server. Within the server, evict in insertion order with a second chance: a value that was
 * used since the last check moves to the end instead. A read costs one flag and does not reorder the map.
 */
export function createListStore<V extends Evictable>(
  {
    lists = Infinity,
    listsPerServer = Infinity,
    bytes: maxBytes = Infinity,
    bytesPerServer = Infinity,
  }: ListStoreLimits,
  onEvict?: (value: V) => void,
): ListStore<V> {
  const servers = new Map<string, ServerGroup<V>>();
  let bytes = 0;
  let size = 0;

  function remove(serverKey: string, key: string): V | undefined {
    const group = servers.get(serverKey);
    const value = group?.values.get(key);
    if (!group || !value) return undefined;
    group.values.delete(key);
    addBytes(group, -(value.bytes ?? 0));
    size -= 1;
    if (group.values.size === 0) servers.delete(serverKey);
    return value;
  }

  function addBytes(group: ServerGroup<V>, difference: number): void {
    group.bytes += difference;
    bytes += difference;
  }

  function evictFrom(serverKey: string): void {
    const values = servers.get(serverKey)?.values ?? new Map<string, V>();
    for (const [key, value] of values) {
      if (!value.isUsed) {
        remove(serverKey, key);
        onEvict?.(value);
        return;
      }
      value.isUsed = false;
      values.delete(key);
      values.set(key, value);
    }
  }

  function findFullest(sizeOf: (group: ServerGroup<V>) => number): string {
    let fullest = '';
    let largest = -1;
    for (const [serverKey, group] of servers) {
      if (sizeOf(group) <= largest) continue;
      fullest = serverKey;
      largest = sizeOf(group);
    }
    return fullest;
  }

  const bytesOf = (serverKey: string) => servers.get(serverKey)?.bytes ?? 0;

  function makeRoom(serverKey: string, needed: number): void {
    while ((servers.get(serverKey)?.values.size ?? 0) >= listsPerServer) evictFrom(serverKey);
    while (bytesOf(serverKey) > 0 && bytesOf(serverKey) + needed > bytesPerServer) evictFrom(serverKey);
    while (size > 0 && bytes + needed > maxBytes) evictFrom(findFullest((group) => group.bytes));
    while (size >= lists) evictOne();
  }

  function evictOne(): void {
    evictFrom(findFullest(({ values }) => values.size));
  }

  return {
    get: (serverKey, key) => servers.get(serverKey)?.values.get(key),
    set(serverKey, key, value) {
      const existing = servers.get(serverKey);
      const previous = existing?.values.get(key);
      if (existing && previous) {
        existing.values.set(key, value);
        addBytes(existing, (value.bytes ?? 0) - (previous.bytes ?? 0));
        return;
      }
      makeRoom(serverKey, value.bytes ?? 0);
      const group = servers.get(serverKey) ?? { values: new Map<string, V>(), bytes: 0 };
      servers.set(serverKey, group);
      group.values.set(key, value);
      addBytes(group, value.bytes ?? 0);
      size += 1;
    },
    delete: remove,
    evictOne,
    makeRoom,
    deleteServer(serverKey) {
      for (const key of servers.get(serverKey)?.values.keys() ?? []) remove(serverKey, key);
    },
    hasRoom: (serverKey, needed) =>
      bytes + needed <= maxBytes && bytesOf(serverKey) + needed <= bytesPerServer,
    entries: (serverKey) => servers.get(serverKey)?.values ?? [],
    serverKeys: () => servers.keys(),
    get size() {
      return size;
    },
  };
}

/** An empty array is two characters in JSON, and twenty times that in memory. */
const BYTES_PER_OBJECT = 40;
const BYTES_PER_VALUE = 8;

/** Estimates the memory of parsed JSON. Iterative, because the server chooses the nesting depth. */
export function estimateBytes(value: object): number {
  let bytes = 0;
  const pending: object[] = [value];
  for (let next = pending.pop(); next; next = pending.pop()) {
    bytes += BYTES_PER_OBJECT;
    if (!Array.isArray(next)) for (const key of Object.keys(next)) bytes += key.length;
    for (const member of Object.values(next) as unknown[]) {
      bytes += BYTES_PER_VALUE;
      if (typeof member === 'string') bytes += member.length;
      else if (typeof member === 'object' && member !== null) pending.push(member);
    }
  }
  return bytes;
}
