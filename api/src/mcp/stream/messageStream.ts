import type { ServerResponse } from 'node:http';
import type { Clock } from '@behalf/kernel';

export const KEEP_ALIVE_MS = 15_000;
/** Whoever has not read for four comments is left: what it does not read would be kept for it. */
const MOST_UNREAD = 4;
/** More than lists and what one may subscribe to. */
const MOST_UNTOLD = 128;

/** Messages of the protocol as server-sent events. Nothing is sent before the first one: until then there is a status. */
export interface MessageStream {
  readonly begun: boolean;
  /** Neither ended nor left. */
  readonly open: boolean;
  begin(): void;
  /** Told when there is room: a reader that does not keep up misses these, and only these. */
  hint(text: string, id?: string): void;
  /** The last of each key is told as soon as there is room, for what means "ask again": however slowly somebody reads. */
  tell(key: string, text: string): void;
  /** `text` may be empty: then the event says no more than its id. */
  send(text: string, id?: string): void;
  /** `replaced`: somebody else reads from here on, and what this one has not read by now it never will. */
  end(options?: { replaced?: boolean }): void;
  /** Stops the comments, for an answer that is given without events. */
  close(): void;
}

export function createMessageStream(
  res: ServerResponse,
  { clock, headers }: { clock: Clock; headers: readonly string[] },
): MessageStream {
  let full = false;
  let unread = 0;
  const untold = new Map<string, string>();
  let stop = beat();

  function beat() {
    return clock.timer(KEEP_ALIVE_MS, () => {
      if (!isOpen()) return;
      begin();
      unread = full ? unread + 1 : 0;
      if (unread >= MOST_UNREAD) return void res.destroy();
      // A comment: proxies on the way close what stays silent.
      if (!full) write(': waiting\n\n');
      stop = beat();
    });
  }

  function isOpen(): boolean {
    return !res.destroyed && !res.writableEnded;
  }

  function begin(): void {
    if (res.headersSent || !isOpen()) return;
    res.writeHead(200, [...headers, 'Content-Type', 'text/event-stream', 'X-Accel-Buffering', 'no']);
    res.flushHeaders();
  }

  function write(text: string): void {
    if (!isOpen() || res.write(text) || full) return;
    full = true;
    res.once('drain', () => {
      full = false;
      catchUp();
    });
  }

  function catchUp(): void {
    for (const [key, text] of untold) {
      if (full) return;
      untold.delete(key);
      write(frame(text, undefined));
    }
  }

  return {
    get begun() {
      return res.headersSent;
    },
    get open() {
      return isOpen();
    },
    begin,
    hint(text, id) {
      begin();
      if (!full) write(frame(text, id));
    },
    tell(key, text) {
      begin();
      if (!full) write(frame(text, undefined));
      else if (untold.has(key) || untold.size < MOST_UNTOLD) untold.set(key, text);
    },
    send(text, id) {
      begin();
      write(frame(text, id));
    },
    end({ replaced = false } = {}) {
      stop();
      untold.clear();
      if (!isOpen()) return;
      if (full && replaced) return void res.destroy();
      res.end();
      // Whoever does not read the rest is left as well: nobody looks after it any more.
      if (!full) return;
      const cancel = clock.timer(MOST_UNREAD * KEEP_ALIVE_MS, () => res.destroy());
      res.once('close', cancel);
    },
    close: () => stop(),
  };
}

/** JSON has no raw line breaks, except where a server's own text is passed on as it came. */
function frame(text: string, id: string | undefined): string {
  // Named `message`, some readers would look for one in it.
  if (text === '') return `id: ${id ?? ''}\ndata: \n\n`;
  const data = text.includes('\n') || text.includes('\r') ? text.replaceAll(/\r\n|\r|\n/g, ' ') : text;
  return id === undefined
    ? `event: message\ndata: ${data}\n\n`
    : `event: message\nid: ${id}\ndata: ${data}\n\n`;
}
