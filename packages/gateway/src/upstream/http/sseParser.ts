export interface SseEvent {
  /** `message` by default. */
  readonly type: string;
  readonly data: string;
}

/**
 * Incremental parser for event streams (WHATWG HTML, section 9.2). An event without its final blank line is discarded.
 * Each chunk is searched once, so that the cost of a line does not depend on the number of its pieces.
 */
export function createSseParser(onEvent: (event: SseEvent) => void) {
  // Removes a byte order mark and joins characters that are split between chunks.
  const decoder = new TextDecoder();
  const tail = new TextBuffer();
  /** The last chunk ended with CR. An LF at the start of the next chunk belongs to the same line break. */
  let isAfterReturn = false;
  const data = new TextBuffer();
  let type = '';
  let pendingId: string | undefined;
  let lastEventId = '';
  let retryMs: number | undefined;

  function dispatch(): void {
    if (pendingId !== undefined) lastEventId = pendingId;
    const event = data.isEmpty ? undefined : { type: type || 'message', data: data.drain() };
    type = '';
    if (event) onEvent(event);
  }

  function readLine(line: string): void {
    if (line === '') {
      dispatch();
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const from = line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1;
    const value = colon < 0 ? '' : line.slice(from);
    if (name === 'data') {
      if (!data.isEmpty) data.append('\n');
      data.append(value);
    } else if (name === 'event') type = value;
    else if (name === 'id' && !value.includes('\0')) pendingId = value;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) retryMs = Number(value);
  }

  return {
    push(chunk: Uint8Array): void {
      const text = decoder.decode(chunk, { stream: true });
      if (text === '') return;
      let start = isAfterReturn && text.charCodeAt(0) === 10 ? 1 : 0;
      isAfterReturn = text.endsWith('\r');
      let lf = text.indexOf('\n', start);
      let cr = text.indexOf('\r', start);
      while (lf >= 0 || cr >= 0) {
        const end = cr >= 0 && (lf < 0 || cr < lf) ? cr : lf;
        const rest = text.slice(start, end);
        const line = tail.isEmpty ? rest : tail.drain() + rest;
        start = end === cr && lf === cr + 1 ? end + 2 : end + 1;
        if (lf >= 0 && lf < start) lf = text.indexOf('\n', start);
        if (cr >= 0 && cr < start) cr = text.indexOf('\r', start);
        readLine(line);
      }
      if (start < text.length) tail.append(text.slice(start));
    },
    /** Value of `Last-Event-ID` for a new connection. Empty if the stream contained no id. */
    get lastEventId() {
      return lastEventId;
    },
    /** The reconnection time that the server requested. */
    get retryMs() {
      return retryMs;
    },
  };
}

const MAX_PIECES = 256;

/**
 * Collects pieces of text. String concatenation would keep every piece and a rope node: a line that arrives one
 * character at a time would take thirty times its size in memory.
 */
class TextBuffer {
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

  /** Returns the whole text and empties the buffer. */
  drain(): string {
    const last = this.#pieces.length === 1 ? (this.#pieces[0] as string) : this.#pieces.join('');
    const text = this.#blocks.length === 0 ? last : this.#blocks.join('') + last;
    this.#pieces.length = 0;
    this.#blocks.length = 0;
    return text;
  }
}
