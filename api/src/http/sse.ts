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

export const KEEP_ALIVE_MS = 15_000;
/** Whoever has not read for four comments is left: what it does not read would be kept for it. */
const MAX_UNREAD_BEATS = 4;
/** More than lists and what one may subscribe to. */
const MAX_PENDING_KEYS = 128;

/** Messages of the protocol as server-sent events. Nothing is sent before the first one: until then there is a status. */
export interface MessageStream {
  readonly isStarted: boolean;
  /** Neither ended nor left. */
  readonly isOpen: boolean;
  start(): void;
  /** Told when there is room: a reader that does not keep up misses these, and only these. */
  sendIfReady(text: string, id?: string): void;
  /** The last of each key is told as soon as there is room, for what means "ask again": however slowly somebody reads. */
  sendLatest(key: string, text: string): void;
  /** `text` may be empty: then the event says no more than its id. */
  send(text: string, id?: string): void;
  /** `replaced`: somebody else reads from here on, and what this one has not read by now it never will. */
  end(options?: { isReplaced?: boolean }): void;
  /** Stops the comments, for an answer that is given without events. */
  close(): void;
}

export function createMessageStream(
  res: ServerResponse,
  { clock, headers }: { clock: Clock; headers: readonly string[] },
): MessageStream {
  let isFull = false;
  let unreadBeats = 0;
  const pending = new Map<string, string>();
  let cancelKeepAlive = scheduleKeepAlive();

  function scheduleKeepAlive() {
    return clock.timer(KEEP_ALIVE_MS, () => {
      if (!isOpen()) return;
      start();
      unreadBeats = isFull ? unreadBeats + 1 : 0;
      if (unreadBeats >= MAX_UNREAD_BEATS) return void res.destroy();
      // A comment: proxies on the way close what stays silent.
      if (!isFull) write(': waiting\n\n');
      cancelKeepAlive = scheduleKeepAlive();
    });
  }

  function isOpen(): boolean {
    return !res.destroyed && !res.writableEnded;
  }

  function start(): void {
    if (res.headersSent || !isOpen()) return;
    res.writeHead(200, [...headers, 'Content-Type', 'text/event-stream', 'X-Accel-Buffering', 'no']);
    res.flushHeaders();
  }

  function write(text: string): void {
    if (!isOpen() || res.write(text) || isFull) return;
    isFull = true;
    res.once('drain', () => {
      isFull = false;
      flushPending();
    });
  }

  function flushPending(): void {
    for (const [key, text] of pending) {
      if (isFull) return;
      pending.delete(key);
      write(formatMessageEvent(text, undefined));
    }
  }

  return {
    get isStarted() {
      return res.headersSent;
    },
    get isOpen() {
      return isOpen();
    },
    start,
    sendIfReady(text, id) {
      start();
      if (!isFull) write(formatMessageEvent(text, id));
    },
    sendLatest(key, text) {
      start();
      if (!isFull) write(formatMessageEvent(text, undefined));
      else if (pending.has(key) || pending.size < MAX_PENDING_KEYS) pending.set(key, text);
    },
    send(text, id) {
      start();
      write(formatMessageEvent(text, id));
    },
    end({ isReplaced = false } = {}) {
      cancelKeepAlive();
      pending.clear();
      if (!isOpen()) return;
      if (isFull && isReplaced) return void res.destroy();
      res.end();
      // Whoever does not read the rest is left as well: nobody looks after it any more.
      if (!isFull) return;
      const cancel = clock.timer(MAX_UNREAD_BEATS * KEEP_ALIVE_MS, () => res.destroy());
      res.once('close', cancel);
    },
    close: () => cancelKeepAlive(),
  };
}

/** JSON has no raw line breaks, except where a server's own text is passed on as it came. */
function formatMessageEvent(text: string, id: string | undefined): string {
  // Named `message`, some readers would look for one in it.
  if (text === '') return `id: ${id ?? ''}\ndata: \n\n`;
  const data = text.includes('\n') || text.includes('\r') ? text.replaceAll(/\r\n|\r|\n/g, ' ') : text;
  return id === undefined
    ? `event: message\ndata: ${data}\n\n`
    : `event: message\nid: ${id}\ndata: ${data}\n\n`;
}
