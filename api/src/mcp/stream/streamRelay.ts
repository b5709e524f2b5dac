import type { Cache } from '@behalf/gateway/ports';
import type { Cancel, Clock } from '@behalf/kernel';
import type { Mailbox, SessionKey } from '../session/mailbox.ts';
import type { MessageStream } from './messageStream.ts';

/** Who reads the stream of a call, here or elsewhere. */
export type StreamSink = Pick<MessageStream, 'isOpen' | 'send' | 'sendIfReady' | 'end'>;

export interface StreamRelayParts {
  readonly cache: Cache;
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly clock: Clock;
}

/** What is told to the other replica at once. */
export interface RelayMessage {
  readonly events: readonly (readonly [text: string, id: string])[];
  /** Nothing comes after it. */
  readonly isLast: boolean;
  /** What there was to tell is more than a word may be. */
  readonly isTooLarge?: true;
}

/** The holder counts on, so that the other one does not wait for a dead one. What it last said means nothing. */
const HEARTBEAT_INTERVAL_MS = 2_000;
const HEARTBEAT_TTL_MS = 10_000;
/** Progress comes often, and the store is everybody's. */
const FLUSH_INTERVAL_MS = 250;
const MAX_MESSAGE_LENGTH = 8 * 1024 * 1024;
/** Whoever reads takes a word within seconds; what nobody takes must not lie in everybody's store. */
const MESSAGE_TTL_MS = 15_000;
/** A reader that does not keep up misses notices. */
const MAX_QUEUE_LENGTH = 256 * 1024;

export interface StreamRelay extends StreamSink {
  /** Says nothing any more, not even that it is the end. */
  abandon(): void;
}

/** The holder's end: what is written here is read by the client at another replica, in order. */
export function createStreamRelay(
  { cache, mailbox, clock }: StreamRelayParts,
  sessionKey: SessionKey,
  attemptId: string,
): StreamRelay {
  let queue: [string, string][] = [];
  let queuedLength = 0;
  let relaySequence = 0;
  let beatCount = 0;
  let isFlushing = false;
  let isClosed = false;
  /** Whoever read has left: nothing is told any more, not even the end. */
  let isAbandoned = false;
  let cancelHeartbeat: Cancel = () => undefined;

  function sendHeartbeat(): void {
    beatCount += 1;
    cache.set(heartbeatKey(attemptId), String(beatCount), HEARTBEAT_TTL_MS).catch(() => undefined);
    cancelHeartbeat = clock.timer(HEARTBEAT_INTERVAL_MS, sendHeartbeat);
  }
  sendHeartbeat();
  const stopWaiting = mailbox.wait(sessionKey, `cancelled:${attemptId}`, abandon);

  function abandon(): void {
    isAbandoned = true;
    queue = [];
    close();
  }

  function close(): void {
    isClosed = true;
    cancelHeartbeat();
    stopWaiting();
  }

  async function flush(): Promise<void> {
    if (isFlushing) return;
    isFlushing = true;
    while (!isAbandoned) {
      const message = boundedMessage({ events: queue, isLast: isClosed });
      // More than a word may be: nothing can follow it.
      if (message.isTooLarge) close();
      const isLast = isClosed;
      queue = [];
      queuedLength = 0;
      try {
        const text = JSON.stringify(message);
        await mailbox.post(sessionKey, `relay:${attemptId}:${relaySequence}`, text, {
          ttlMs: MESSAGE_TTL_MS,
        });
      } catch {
        // The store does not answer. What is missing is missed for good: whoever reads sees no sign of life any more.
        close();
        return;
      }
      relaySequence += 1;
      if (isLast) return;
      await new Promise<void>((resolve) => clock.timer(FLUSH_INTERVAL_MS, resolve));
      if (queue.length === 0 && !isClosed) break;
    }
    isFlushing = false;
  }

  function write(text: string, id = ''): void {
    if (isClosed) return;
    queue.push([text, id]);
    queuedLength += text.length;
    void flush();
  }

  return {
    // Whether anybody reads it is known elsewhere: what is the end of it is left in the store as well.
    isOpen: false,
    send: write,
    sendIfReady(text, id) {
      if (queuedLength <= MAX_QUEUE_LENGTH) write(text, id);
    },
    end() {
      if (isClosed) return;
      close();
      void flush();
    },
    abandon,
  };
}

function boundedMessage(message: RelayMessage): RelayMessage {
  const length = message.events.reduce((sum, [text, id]) => sum + text.length + id.length, 0);
  return length <= MAX_MESSAGE_LENGTH ? message : { events: [], isLast: true, isTooLarge: true };
}

export function heartbeatKey(attemptId: string): string {
  return `heartbeat:${attemptId}`;
}
