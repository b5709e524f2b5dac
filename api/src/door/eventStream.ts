import type { ServerResponse } from 'node:http';
import type { Clock } from '@behalf/kernel';

const KEEP_ALIVE_MS = 15_000;
/** Whoever has not read for this long is left: what it does not read would be kept for it. */
const UNREAD_MS = 60_000;

/** Server-sent events on an answer. Nothing is sent before the first event: until then an error has a status. */
export interface EventStream {
  readonly begun: boolean;
  /** Told when there is room: a reader that does not keep up misses these, and only these. */
  hint(event: string, data: unknown): void;
  /** Sends the headers now, so that the caller knows them before there is anything to tell. */
  open(): void;
  /** Sent for certain and in order, unless the reader is gone. Settles when there is room for more. */
  send(event: string, data: unknown): Promise<void>;
  /** `json` is already text. */
  end(event: string, json: string): void;
  /** Stops the timer when no event comes any more. */
  close(): void;
}

export function createEventStream(
  res: ServerResponse,
  { clock, headers }: { clock: Clock; headers: Readonly<Record<string, string>> },
): EventStream {
  let full = false;
  let reading: Promise<void> | undefined;
  let stop = beat();

  function beat() {
    return clock.timer(KEEP_ALIVE_MS, () => {
      begin();
      // A comment: proxies on the way close what stays silent.
      if (!full) write(': waiting\n\n');
      stop = beat();
    });
  }

  function begin(): void {
    if (res.headersSent) return;
    res.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
  }

  function write(text: string): void {
    if (res.destroyed || res.writableEnded) return;
    if (res.write(text) || full) return;
    full = true;
    res.once('drain', () => (full = false));
  }

  /** Never rejects: for who is gone there is room for everything. */
  function untilRead(): Promise<void> {
    if (!full || res.destroyed) return Promise.resolve();
    return (reading ??= new Promise((resolve) => {
      const giveUp = clock.timer(UNREAD_MS, () => res.destroy());
      const read = () => {
        giveUp();
        reading = undefined;
        res.off('drain', read).off('close', read);
        resolve();
      };
      res.on('drain', read).on('close', read);
    }));
  }

  return {
    get begun() {
      return res.headersSent;
    },
    hint(event, data) {
      begin();
      if (!full) write(frame(event, JSON.stringify(data)));
    },
    open() {
      begin();
      res.flushHeaders();
    },
    send(event, data) {
      begin();
      write(frame(event, JSON.stringify(data)));
      return untilRead();
    },
    end(event, json) {
      stop();
      begin();
      write(frame(event, json));
      res.end();
    },
    close: () => stop(),
  };
}

/** JSON has no raw line breaks, except where a server's own text is passed on as it came. */
function frame(event: string, json: string): string {
  const data = json.includes('\n') || json.includes('\r') ? json.replaceAll(/\r\n|\r|\n/g, ' ') : json;
  return `event: ${event}\ndata: ${data}\n\n`;
}
