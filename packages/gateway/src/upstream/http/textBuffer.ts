const MAX_PIECES = 256;

/**
 * Text that comes in pieces. Adding one string to another keeps both, and a small object besides: a line that comes one
 * character at a time would take thirty times its size in memory.
 */
export class TextBuffer {
  #pieces: string[] = [];
  readonly #blocks: string[] = [];

  get isEmpty(): boolean {
    return this.#pieces.length === 0 && this.#blocks.length === 0;
  }

  append(text: string): void {
    this.#pieces.push(text);
    if (this.#pieces.length < MAX_PIECES) return;
    this.#blocks.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  /** All of it; afterwards there is nothing. */
  drain(): string {
    const last = this.#pieces.length === 1 ? (this.#pieces[0] as string) : this.#pieces.join('');
    const text = this.#blocks.length === 0 ? last : this.#blocks.join('') + last;
    this.#pieces.length = 0;
    this.#blocks.length = 0;
    return text;
  }
}
