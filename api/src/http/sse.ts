import type { ServerResponse } from 'node:http';
import type { Clock } from '@behalf/kernel';

export const KEEP_ALIVE_MS = 15_000;
/** A client that reads nothing for this long is disconnected, because unread data is buffered for it. */
const MAX_UNREAD_BEATS = 4;
const MAX_UNREAD_MS = MAX_UNREAD_BEATS * KEEP_ALIVE_MS;
/** More than there are lists and resources that one client subscribes to. */
const MAX_PENDING_KEYS = 128;

interface SseWriterParts {
  readonly clock: Clock;
  /** Sends the headers unless they were sent. */
  readonly sendHeaders: () => void;
  /** Runs before each keep-alive comment. Returns false to stop. */
  readonly onBeat?: () => boolean;
  readonly onDrain?: () => void;
}

/** Writes to a response with backpressure. Comments keep it alive, because proxies close silent connections. */
function createSseWriter(res: ServerResponse, { clock, sendHeaders, onBeat, onDrain }: SseWriterParts) {
  let isFull = false;
  let cancelKeepAlive = scheduleKeepAlive();

  function scheduleKeepAlive() {
    return clock.timer(KEEP_ALIVE_MS, () => {
      if (!isOpen()) return;
      sendHeaders();
      if (onBeat?.() === false) return;
      if (!isFull) write(': waiting\n\n');
      cancelKeepAlive = scheduleKeepAlive();
    });
  }

  function isOpen(): boolean {
    return !res.destroyed && !res.writableEnded;
  }

  function write(text: string): void {
    if (!isOpen() || res.write(text) || isFull) return;
    isFull = true;
    res.once('drain', () => {
      isFull = false;
      onDrain?.();
    });
  }

  return { isOpen, write, isFull: () => isFull, stopKeepAlive: () => cancelKeepAlive() };
}

/** Without an event the data may be empty: such an event only carries its id. */
function formatEvent(event: string | undefined, text: string, id?: string): string {
  // Serialized JSON contains no raw line breaks. Text that a server sent and that is forwarded unchanged may.
  const data = text.includes('\n') || text.includes('\r') ? text.replaceAll(/\r\n|\r|\n/g, ' ') : text;
  return `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}

/**
 * Server-sent events of a REST or chat response. The headers are sent with the first event; until then an error can still set
 * the status.
 */
export interface EventStream {
  readonly isStarted: boolean;
  /** Drops the event if the client does not keep up. */
  sendIfReady(event: string, data: unknown): void;
  /** Sends the headers before the first event. */
  open(): void;
  /** Never drops the event. Resolves when the client keeps up again, or has disconnected. */
  send(event: string, data: unknown): Promise<void>;
  /** `json`: the serialized data. */
  end(event: string, json: string): void;
  /** Stops the keep-alive, if the stream will not be used any more. */
  close(): void;
}

export function createEventStream(
  res: ServerResponse,
  { clock, headers }: { clock: Clock; headers: Readonly<Record<string, string>> },
): EventStream {
  let drained: Promise<void> | undefined;
  const writer = createSseWriter(res, { clock, sendHeaders });

  function sendHeaders(): void {
    if (res.headersSent) return;
    res.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
  }

  /** Never rejects. A disconnected client is always ready. */
  function waitForDrain(): Promise<void> {
    if (!writer.isFull() || res.destroyed) return Promise.resolve();
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
      if (!writer.isFull()) writer.write(formatEvent(event, JSON.stringify(data)));
    },
    open() {
      sendHeaders();
      res.flushHeaders();
    },
    send(event, data) {
      sendHeaders();
      writer.write(formatEvent(event, JSON.stringify(data)));
      return waitForDrain();
    },
    end(event, json) {
      writer.stopKeepAlive();
      sendHeaders();
      writer.write(formatEvent(event, json));
      res.end();
    },
    close: () => writer.stopKeepAlive(),
  };
}

/** MCP messages as server-sent events. The headers are sent with the first event; until then an error can set the status. */
export interface MessageStream {
  readonly isStarted: boolean;
  /** The stream was not ended, and the client has not disconnected. */
  readonly isOpen: boolean;
  start(): void;
  /** Drops the message if the client does not keep up. */
  sendIfReady(text: string, id?: string): void;
  /** Sends the latest message of each key when the client keeps up. For notifications that mean "list again". */
  sendLatest(key: string, text: string): void;
  /** With an empty `text` the event only carries its id. */
  send(text: string, id?: string): void;
  /** `isReplaced`: another connection continues the stream, so unread data is discarded. */
  end(options?: { isReplaced?: boolean }): void;
  /** Stops the keep-alive, for a response that is not a stream. */
  close(): void;
}

export function createMessageStream(
  res: ServerResponse,
  { clock, headers }: { clock: Clock; headers: readonly string[] },
): MessageStream {
  let unreadBeats = 0;
  const pending = new Map<string, string>();
  const writer = createSseWriter(res, { clock, sendHeaders: start, onBeat, onDrain: flushPending });
  const { isOpen } = writer;

  function onBeat(): boolean {
    unreadBeats = writer.isFull() ? unreadBeats + 1 : 0;
    if (unreadBeats < MAX_UNREAD_BEATS) return true;
    res.destroy();
    return false;
  }

  function start(): void {
    if (res.headersSent || !isOpen()) return;
    res.writeHead(200, [...headers, 'Content-Type', 'text/event-stream', 'X-Accel-Buffering', 'no']);
    res.flushHeaders();
  }

  function write(text: string, id?: string): void {
    // An event named `message` without data would make some clients parse an empty message.
    writer.write(text === '' ? formatEvent(undefined, '', id ?? '') : formatEvent('message', text, id));
  }

  function flushPending(): void {
    for (const [key, text] of pending) {
      if (writer.isFull()) return;
      pending.delete(key);
      write(text);
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
      if (!writer.isFull()) write(text, id);
    },
    sendLatest(key, text) {
      start();
      if (!writer.isFull()) write(text);
      else if (pending.has(key) || pending.size < MAX_PENDING_KEYS) pending.set(key, text);
    },
    send(text, id) {
      start();
      write(text, id);
    },
    end({ isReplaced = false } = {}) {
      writer.stopKeepAlive();
      pending.clear();
      if (!isOpen()) return;
      if (writer.isFull() && isReplaced) return void res.destroy();
      res.end();
      // A client that does not read the rest is disconnected as well.
      if (!writer.isFull()) return;
      const cancel = clock.timer(MAX_UNREAD_MS, () => res.destroy());
      res.once('close', cancel);
    },
    close: () => writer.stopKeepAlive(),
  };
}
