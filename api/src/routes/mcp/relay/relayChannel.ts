import type { Cache } from '@behalf/gateway/ports';
import { type Cancel, type Clock, sleep } from '@behalf/kernel';
import type { SessionKey } from '../sealed.ts';
import type { Mailbox } from './mailbox.ts';

/*
 * The relay between replicas: an ordered channel from the replica that holds a call or stream (the holder) to the replica that
 * serves its client (the reader). Suspended calls and resumed streams use it. Invariants:
 * - Messages are numbered and arrive in order and at most once. The mailbox seals them to the session.
 * - The holder sends heartbeats. If they stop, the reader reports that the outcome of the request is unknown.
 * - If the reader leaves, the holder stops writing. Messages that no replica reads expire after a few seconds.
 */
export interface RelayParts {
  readonly cache: Cache;
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly clock: Clock;
}

const HEARTBEAT_INTERVAL_MS = 2_000;
const HEARTBEAT_TTL_MS = 10_000;
/** Each message is a write to the shared store, so messages in this interval are combined. */
const FLUSH_INTERVAL_MS = 250;
const MESSAGE_TTL_MS = 15_000;
/** Message size, in characters. */
export const MAX_RELAY_MESSAGE_LENGTH = 8 * 1024 * 1024;

/** Supplies the messages of a channel. The holder buffers and combines messages before sending. */
interface RelaySource {
  /** Returns and removes the buffered content. Undefined if there is none. `isLast` closes the channel. */
  takeMessage(): { readonly text: string; readonly isLast: boolean } | undefined;
  /** The reader has left. The channel is closed. */
  onCancelled(): void;
}

interface RelayWriter {
  readonly isClosed: boolean;
  /** Sends the buffered content of the source soon. */
  flush(): void;
  /** Closes the channel without another message. */
  close(): void;
}

/** Opens the holder's end of a channel. */
export function createRelayWriter(
  { cache, mailbox, clock }: RelayParts,
  sessionKey: SessionKey,
  attemptId: string,
  source: RelaySource,
): RelayWriter {
  let sequence = 0;
  let beatCount = 0;
  let isFlushing = false;
  let isClosed = false;
  let cancelHeartbeat: Cancel = () => undefined;

  function sendHeartbeat(): void {
    beatCount += 1;
    cache.set(heartbeatKey(attemptId), String(beatCount), HEARTBEAT_TTL_MS).catch(() => undefined);
    cancelHeartbeat = clock.timer(HEARTBEAT_INTERVAL_MS, sendHeartbeat);
  }

  function close(): void {
    isClosed = true;
    cancelHeartbeat();
    stopWaiting();
  }

  /** Repeats the same message under the same number: after a failure, the first attempt may have been stored. */
  async function post(text: string): Promise<void> {
    const deadline = clock.now() + MESSAGE_TTL_MS;
    while (!isClosed) {
      try {
        await mailbox.post(sessionKey, messageName(attemptId, sequence), text, { ttlMs: MESSAGE_TTL_MS });
        sequence += 1;
        return;
      } catch {
        // Without heartbeats, the reader reports that the holder is lost.
        if (clock.now() >= deadline) close();
        else await sleep(clock, FLUSH_INTERVAL_MS);
      }
    }
  }

  async function flushAll(): Promise<void> {
    // Waits until the current caller has buffered everything that belongs together.
    await Promise.resolve();
    while (!isClosed) {
      const message = source.takeMessage();
      if (!message) break;
      await post(message.text);
      if (message.isLast) close();
      else await sleep(clock, FLUSH_INTERVAL_MS);
    }
    isFlushing = false;
  }

  sendHeartbeat();
  const onCancelled = () => {
    close();
    source.onCancelled();
  };
  const stopWaiting = mailbox.wait(sessionKey, cancellationName(attemptId), onCancelled, {
    shouldPoll: true,
  });

  return {
    get isClosed() {
      return isClosed;
    },
    flush() {
      if (isFlushing || isClosed) return;
      isFlushing = true;
      void flushAll();
    },
    close,
  };
}

interface RelayReaderOptions {
  /** Asks the holder to open its end of the channel. Repeated if it rejects. */
  readonly sendRequest: () => Promise<void>;
  /** Without a heartbeat or a message for this time, the holder counts as lost. */
  readonly holderTimeoutMs: number;
  /** Returns true if the message is the last one. */
  readonly onMessage: (text: string) => boolean;
  readonly onLost: () => void;
}

/** Opens the reader's end of a channel. Returns a function that closes it and notifies the holder. */
export function openRelayReader(
  { cache, mailbox, clock }: RelayParts,
  sessionKey: SessionKey,
  attemptId: string,
  { sendRequest, holderTimeoutMs, onMessage, onLost }: RelayReaderOptions,
): () => void {
  let sequence = 0;
  let lastSeenAt = clock.now();
  let lastHeartbeat: string | undefined;
  let isRequested = false;
  let isClosed = false;
  let cancelCheck: Cancel = () => undefined;
  let stopWaiting: () => void = () => undefined;

  function close(): void {
    isClosed = true;
    cancelCheck();
    stopWaiting();
  }

  function leave(): void {
    if (isClosed) return;
    close();
    mailbox.post(sessionKey, cancellationName(attemptId), 'cancelled').catch(() => undefined);
  }

  function waitForMessage(): void {
    const receive = (text: string) => {
      lastSeenAt = clock.now();
      sequence += 1;
      if (onMessage(text)) close();
      else if (!isClosed) waitForMessage();
    };
    stopWaiting = mailbox.wait(sessionKey, messageName(attemptId, sequence), receive, { shouldPoll: true });
  }

  function request(): void {
    sendRequest().then(
      () => (isRequested = true),
      () => undefined,
    );
  }

  async function checkHolder(): Promise<void> {
    if (!isRequested) request();
    try {
      const heartbeat = await cache.get(heartbeatKey(attemptId));
      if (heartbeat !== undefined && heartbeat !== lastHeartbeat) lastSeenAt = clock.now();
      lastHeartbeat = heartbeat;
    } catch {
      // A failed read counts as a missing heartbeat.
    }
    if (isClosed) return;
    if (clock.now() - lastSeenAt < holderTimeoutMs) {
      cancelCheck = clock.timer(HEARTBEAT_INTERVAL_MS, () => void checkHolder());
      return;
    }
    leave();
    onLost();
  }

  waitForMessage();
  request();
  cancelCheck = clock.timer(HEARTBEAT_INTERVAL_MS, () => void checkHolder());
  return leave;
}

function heartbeatKey(attemptId: string): string {
  return `heartbeat:${attemptId}`;
}

function messageName(attemptId: string, sequence: number): string {
  return `relay:${attemptId}:${sequence}`;
}

function cancellationName(attemptId: string): string {
  return `cancelled:${attemptId}`;
}
