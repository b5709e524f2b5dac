import type { ServerResponse } from 'node:http';
import type { Clock } from '@behalf/kernel';

export const KEEP_ALIVE_MS = 15_000;
/** Whoever has not read for four comments is left: what it does not read would be kept for it. */
const MOST_UNREAD = 4;

/** Messages of the protocol as server-sent events. Nothing is sent before the first one: until then there is a status. */
export interface MessageStream {
  readonly begun: boolean;
  /** Neither ended nor left. */
  readonly open: boolean;
  begin(): void;
  /** Told when there is room: a reader that does not keep up misses these, and only these. */
  hint(text: string, id?: string): void;
  /** `text` may be empty: then the event says no more than its id. */
  send(text: string, id?: string): void;
  end(): void;
  /** Stops the comments, for an answer that is given without events. */
  close(): void;
}

export function createMessageStream(
  res: ServerResponse,
  { clock, headers }: { clock: Clock; headers: readonly string[] },
): MessageStream {
  let full = false;
  let unread = 0;
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
    res.once('drain', () => (full = false));
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
    send(text, id) {
      begin();
      write(frame(text, id));
    },
    end() {
      stop();
      if (isOpen()) res.end();
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
