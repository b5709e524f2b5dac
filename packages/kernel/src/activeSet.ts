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
