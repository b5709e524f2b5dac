/**
 * What is under way at the moment: thousands come and go each second. A Set would say the same and cost far more: V8 links
 * each table that a Set or Map has outgrown to the one after it, and one that grew old while nothing went on keeps all
 * later ones alive, with everything that ever stood in them, until the next full collection.
 */
export class Roster<T extends object> implements Iterable<T> {
  readonly #seats: (T | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#seats.length - this.#free.length;
  }

  /** Gives the seat that it leaves from. */
  enter(item: T): number {
    const seat = this.#free.pop() ?? this.#seats.length;
    this.#seats[seat] = item;
    return seat;
  }

  /** Twice is once: a seat that somebody else has by now stays theirs. */
  leave(seat: number, item: T): void {
    if (this.#seats[seat] !== item) return;
    this.#seats[seat] = undefined;
    this.#free.push(seat);
  }

  /** Who is here now: whoever comes or goes meanwhile changes nothing of it. */
  [Symbol.iterator](): Iterator<T> {
    return this.#seats.filter((item) => item !== undefined)[Symbol.iterator]();
  }
}
