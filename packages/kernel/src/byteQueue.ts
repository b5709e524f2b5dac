/** Every piece costs memory beyond its bytes; so many are kept as they came, which is what an honest answer needs. */
const FEW = 32;
/** After that, what is smaller than this is copied together with its neighbours. */
const SMALL = 16_384;
const BLOCK = 65_536;

/**
 * Bytes that wait for who reads them. The sender decides how they are cut: kept one by one, pieces of a byte each
 * would take a hundred times their size in memory.
 */
export class ByteQueue {
  #pieces: Buffer[] = [];
  /** What is copied together: the bytes from `start` to `end` are not among the pieces yet. */
  #block: Buffer | undefined;
  #start = 0;
  #end = 0;
  /** In bytes. */
  length = 0;

  push(chunk: Buffer): void {
    this.length += chunk.length;
    if (chunk.length >= SMALL || this.#pieces.length < FEW) {
      this.#seal();
      this.#pieces.push(chunk);
      return;
    }
    if (!this.#block || this.#block.length - this.#end < chunk.length) {
      this.#seal();
      this.#block = Buffer.allocUnsafeSlow(BLOCK);
      this.#start = 0;
      this.#end = 0;
    }
    chunk.copy(this.#block, this.#end);
    this.#end += chunk.length;
  }

  /** Some of what came first. */
  shift(): Buffer | undefined {
    if (this.#pieces.length === 0) this.#seal();
    const piece = this.#pieces.shift();
    if (piece) this.length -= piece.length;
    return piece;
  }

  /** All of it, in one piece; afterwards there is nothing. */
  take(): Buffer {
    this.#seal();
    const [first] = this.#pieces;
    const all = first && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces, this.length);
    this.clear();
    return all;
  }

  clear(): void {
    this.#pieces = [];
    this.#block = undefined;
    this.#start = 0;
    this.#end = 0;
    this.length = 0;
  }

  #seal(): void {
    if (!this.#block || this.#start === this.#end) return;
    this.#pieces.push(this.#block.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}
