import type { ServerResponse } from 'node:http';
import type { Clock } from '@behalf/kernel';

const EVENT_KEEP_ALIVE_MS = 15_000;
/** Whoever has not read for this long is left: what it does not read would be kept for it. */
const MAX_UNREAD_MS = 60_000;

/** Server-sent events on an answer. Nothing is sent before the first event: until then an error has a status. */
export interface EventStream {
  readonly isStarted: boolean;
  /** Told when there is room: a reader that does not keep up misses these, and only these. */
  sendIfReady(event: string, data: unknown): void;
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
  let isFull = false;
  let drained: Promise<void> | undefined;
  let cancelKeepAlive = scheduleKeepAlive();

  function scheduleKeepAlive() {
    return clock.timer(EVENT_KEEP_ALIVE_MS, () => {
      sendHeaders();
      // A comment: proxies on the way close what stays silent.
      if (!isFull) write(': waiting\n\n');
      cancelKeepAlive = scheduleKeepAlive();
    });
  }

  function sendHeaders(): void {
    if (res.headersSent) return;
    res.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
  }

  function write(text: string): void {
    if (res.destroyed || res.writableEnded) return;
    if (res.write(text) || isFull) return;
    isFull = true;
    res.once('drain', () => (isFull = false));
  }

  /** Never rejects: for who is gone there is room for everything. */
  function waitForDrain(): Promise<void> {
    if (!isFull || res.destroyed) return Promise.resolve();
    return (drained ??= new Promise((resolve) => {
      const cancelTimeout = clock.timer(MAX_UNREAD_MS, () => res.destroy());
      const onDrain = () => {
        cancelTimeout();
        drained = undefined;
        res.off('drain', onDrain).off('close', onDrain);
        resolve();
      };
      res.on('drain', onDrain).on('close', onDrain);
    }));
  }

  return {
    get isStarted() {
      return res.headersSent;
    },
    sendIfReady(event, data) {
      sendHeaders();
      if (!isFull) write(formatEvent(event, JSON.stringify(data)));
    },
    open() {
      sendHeaders();
      res.flushHeaders();
    },
    send(event, data) {
      sendHeaders();
      write(formatEvent(event, JSON.stringify(data)));
      return waitForDrain();
    },
    end(event, json) {
      cancelKeepAlive();
      sendHeaders();
      write(formatEvent(event, json));
      res.end();
    },
    close: () => cancelKeepAlive(),
  };
}

/** JSON has no raw line breaks, except where a server's own text is passed on as it came. */
function formatEvent(event: string, json: string): string {
  const data = json.includes('\n') || json.includes('\r') ? json.replaceAll(/\r\n|\r|\n/g, ' ') : json;
  return `event: ${event}\ndata: ${data}\n\n`;
}
