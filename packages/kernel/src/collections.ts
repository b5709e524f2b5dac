/** A map of bounded size. When it is full, `set` evicts the entry that was least recently read or written. */
export class LruMap<K, V> {
  readonly #maxEntries: number;
  /** A Map iterates in insertion order. Each use moves the entry to the end, so the first entry is the oldest. */
  readonly #entries = new Map<K, V>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Reads without counting as a use. */
  peek(key: K): V | undefined {
    return this.#entries.get(key);
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#maxEntries) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }

  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** The least recently used key first. */
  keys(): IterableIterator<K> {
    return this.#entries.keys();
  }

  /** The least recently used entry first. */
  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#entries[Symbol.iterator]();
  }
}

/**
 * The set of operations in progress, where thousands start and end each second. It uses an array because a Set leaks
 * here: V8 links each outgrown hash table to its successor, so one old table keeps all later tables, with every
 * element they ever held, alive until the next full garbage collection.
 */
export class ActiveSet<T extends object> implements Iterable<T> {
  readonly #slots: (T | undefined)[] = [];
  readonly #freeSlots: number[] = [];

  get size(): number {
    return this.#slots.length - this.#freeSlots.length;
  }

  /** Returns the slot, which `remove` needs. */
  add(item: T): number {
    const slot = this.#freeSlots.pop() ?? this.#slots.length;
    this.#slots[slot] = item;
    return slot;
  }

  /** Does nothing if another item uses the slot now, so removing an item twice is safe. */
  remove(slot: number, item: T): void {
    if (this.#slots[slot] !== item) return;
    this.#slots[slot] = undefined;
    this.#freeSlots.push(slot);
  }

  /** Iterates over a snapshot: items added or removed during the iteration do not affect it. */
  [Symbol.iterator](): Iterator<T> {
    return this.#slots.filter((item) => item !== undefined)[Symbol.iterator]();
  }
}

/** Each Buffer costs memory beyond its bytes. The queue keeps this many as they arrived, enough for a normal response. */
const UNMERGED_CHUNKS = 32;
/** Beyond that, the queue copies smaller chunks together into blocks. */
const MERGE_BELOW_BYTES = 16_384;
const BLOCK_BYTES = 65_536;

/**
 * A FIFO queue of received bytes. The sender chooses the chunk size: kept separately, chunks of one byte would take a
 * hundred times their size in memory, so the queue merges small chunks.
 */
export class ByteQueue {
  #chunks: Buffer[] = [];
  /** The block being filled. Its bytes from `#start` to `#end` are not in `#chunks` yet. */
  #block: Buffer | undefined;
  #start = 0;
  #end = 0;
  /** In bytes. */
  length = 0;

  push(chunk: Buffer): void {
    this.length += chunk.length;
    if (chunk.length >= MERGE_BELOW_BYTES || this.#chunks.length < UNMERGED_CHUNKS) {
      this.#flushBlock();
      this.#chunks.push(chunk);
      return;
    }
    if (!this.#block || this.#block.length - this.#end < chunk.length) {
      this.#flushBlock();
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#start = 0;
      this.#end = 0;
    }
    chunk.copy(this.#block, this.#end);
    this.#end += chunk.length;
  }

  /** Removes and returns the oldest chunk. */
  shift(): Buffer | undefined {
    if (this.#chunks.length === 0) this.#flushBlock();
    const chunk = this.#chunks.shift();
    if (chunk) this.length -= chunk.length;
    return chunk;
  }

  /** Removes and returns all bytes as one Buffer. */
  drain(): Buffer {
    this.#flushBlock();
    const [first] = this.#chunks;
    const joined = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.length);
    this.clear();
    return joined;
  }

  clear(): void {
    this.#chunks = [];
    this.#block = undefined;
    this.#start = 0;
    this.#end = 0;
    this.length = 0;
  }

  #flushBlock(): void {
    if (!this.#block || this.#start === this.#end) return;
    this.#chunks.push(this.#block.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}
