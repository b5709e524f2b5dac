/**
 * What is under way at the moment: thousands come and go each second. A Set would say the same and cost far more: V8 links
 * each table that a Set or Map has outgrown to the one after it, and one that grew old while nothing went on keeps all
 * later ones alive, with everything that ever stood in them, until the next full collection.
 */
export class ActiveSet<T extends object> implements Iterable<T> {
  readonly #slots: (T | undefined)[] = [];
  readonly #freeSlots: number[] = [];

  get size(): number {
    return this.#slots.length - this.#freeSlots.length;
  }

  /** Gives the seat that it leaves from. */
  add(item: T): number {
    const slot = this.#freeSlots.pop() ?? this.#slots.length;
    this.#slots[slot] = item;
    return slot;
  }

  /** Twice is once: a seat that somebody else has by now stays theirs. */
  remove(slot: number, item: T): void {
    if (this.#slots[slot] !== item) return;
    this.#slots[slot] = undefined;
    this.#freeSlots.push(slot);
  }

  /** Who is here now: whoever comes or goes meanwhile changes nothing of it. */
  [Symbol.iterator](): Iterator<T> {
    return this.#slots.filter((item) => item !== undefined)[Symbol.iterator]();
  }
}

/** Every piece costs memory beyond its bytes; so many are kept as they came, which is what an honest answer needs. */
const UNMERGED_CHUNKS = 32;
/** After that, what is smaller than this is copied together with its neighbours. */
const MERGE_BELOW_BYTES = 16_384;
const BLOCK_BYTES = 65_536;

/**
 * Bytes that wait for who reads them. The sender decides how they are cut: kept one by one, pieces of a byte each
 * would take a hundred times their size in memory.
 */
export class ByteQueue {
  #chunks: Buffer[] = [];
  /** What is copied together: the bytes from `start` to `end` are not among the pieces yet. */
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

  /** Some of what came first. */
  shift(): Buffer | undefined {
    if (this.#chunks.length === 0) this.#flushBlock();
    const chunk = this.#chunks.shift();
    if (chunk) this.length -= chunk.length;
    return chunk;
  }

  /** All of it, in one piece; afterwards there is nothing. */
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
