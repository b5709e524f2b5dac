export interface SseEvent {
  /** `message` unless the stream names another. */
  readonly type: string;
  readonly data: string;
}

export interface SseParser {
  push(chunk: Uint8Array): void;
  /** What a new connection tells the server it has seen. Empty when the stream gave no id. */
  readonly lastEventId: string;
  /** How long the server wants us to wait before we connect again. */
  readonly retryMs: number | undefined;
}

/**
 * Reads an event stream as it comes (WHATWG HTML, section 9.2). An event that its blank line does not end was never
 * sent: what is left at the end of the stream is dropped. Each chunk is searched once, so that a line that comes in
 * many pieces costs no more than its length.
 */
export function createSseParser(onEvent: (event: SseEvent) => void): SseParser {
  // Drops a byte order mark, and keeps a character that two chunks share.
  const decoder = new TextDecoder();
  const tail = new TextBuffer();
  /** A CR ended the last chunk: an LF that begins the next one belongs to it. */
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
    push(chunk) {
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
    get lastEventId() {
      return lastEventId;
    },
    get retryMs() {
      return retryMs;
    },
  };
}

const MAX_PIECES = 256;

/**
 * Text that comes in pieces. Adding one string to another keeps both, and a small object besides: a line that comes one
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

  /** All of it; afterwards there is nothing. */
  drain(): string {
    const last = this.#pieces.length === 1 ? (this.#pieces[0] as string) : this.#pieces.join('');
    const text = this.#blocks.length === 0 ? last : this.#blocks.join('') + last;
    this.#pieces.length = 0;
    this.#blocks.length = 0;
    return text;
  }
}
