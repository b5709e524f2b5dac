import { GatewayError } from '@behalf/gateway';
import type { Cancel, Random } from '@behalf/kernel';
import { toRpcFault, rpcErrorText } from '../rpcFault.ts';
import type { SessionKey } from '../session/mailbox.ts';
import type { ParsedEventId } from './eventIds.ts';
import type { MessageStream } from './messageStream.ts';
import { heartbeatKey, type RelayMessage, type StreamRelayParts } from './streamRelay.ts';

export interface RemoteReaderParts extends StreamRelayParts {
  readonly random: Random;
  /** Asks the holder of a stream for it. */
  readonly requestStream: (sessionKey: SessionKey, eventId: ParsedEventId, attempt: string) => Promise<void>;
}

/** Kept at the end of a stream that nobody read. */
export type StoredEvents = readonly (readonly [seq: number, text: string])[];

const CHECK_MS = 2_000;
/** So long without a sign of life, and the holder is gone. */
const HOLDER_TIMEOUT_MS = 6_000;

/**
 * The stream is held by another replica, or was by one that is gone: the reader hears what that one tells, or finds what it
 * left. Where neither comes, the request may have run and its outcome is told as uncertain. Returns how to stop.
 */
export function readRemotely(
  parts: RemoteReaderParts,
  sessionKey: SessionKey,
  eventId: ParsedEventId,
  reader: MessageStream,
): () => void {
  const { cache, mailbox, clock } = parts;
  const attempt = parts.random.id();
  let lastSeenAt = clock.now();
  let lastHeartbeat: string | undefined;
  let lastDelivered = eventId.seq;
  let isRequested = false;
  let isStopped = false;
  let cancel: Cancel = () => undefined;
  let stopRelayWait: () => void = () => undefined;

  function stop(): void {
    isStopped = true;
    cancel();
    stopRelayWait();
    stopStoredWait();
  }

  /** Whoever holds the stream tells nobody from here on. */
  function abandon(): void {
    stop();
    mailbox.post(sessionKey, `cancelled:${attempt}`, 'cancelled').catch(() => undefined);
  }

  function finish(fault?: GatewayError): void {
    if (fault) reader.send(rpcErrorText(eventId.requestId, toRpcFault(fault, 'legacy')));
    reader.end();
  }

  function deliver(seq: number, text: string): void {
    if (seq <= lastDelivered) return;
    lastDelivered = seq;
    reader.send(text, `${eventId.prefix}.${seq}`);
  }

  function waitForRelay(sequence: number): void {
    const onMessage = (text: string) => {
      const { events, isLast: isLast, isTooLarge } = JSON.parse(text) as RelayMessage;
      lastSeenAt = clock.now();
      for (const [message, id] of events) deliver(Number(id.slice(id.lastIndexOf('.') + 1)), message);
      if (!isLast) {
        waitForRelay(sequence + 1);
        return;
      }
      stop();
      finish(isTooLarge && new GatewayError('MCP_RESPONSE_TOO_LARGE'));
    };
    stopRelayWait = mailbox.wait(sessionKey, `relay:${attempt}:${sequence}`, onMessage, { poll: true });
  }

  function requestFromHolder(): void {
    parts.requestStream(sessionKey, eventId, attempt).then(
      () => (isRequested = true),
      // The store does not answer: once more with the next look.
      () => undefined,
    );
  }

  async function check(): Promise<void> {
    if (!isRequested) requestFromHolder();
    try {
      const heartbeat = await cache.get(heartbeatKey(attempt));
      if (heartbeat !== undefined && heartbeat !== lastHeartbeat) lastSeenAt = clock.now();
      lastHeartbeat = heartbeat;
    } catch {
      // No sign of life is what it looks like from here.
    }
    if (isStopped) return;
    if (clock.now() - lastSeenAt >= HOLDER_TIMEOUT_MS) {
      abandon();
      finish(new GatewayError('MCP_OUTCOME_UNCERTAIN', { detail: HOLDER_LOST }));
    } else cancel = clock.timer(CHECK_MS, () => void check());
  }

  reader.start();
  const stopStoredWait = mailbox.wait(
    sessionKey,
    `stream:${eventId.stream}`,
    (message) => {
      for (const [seq, text] of JSON.parse(message) as StoredEvents) deliver(seq, text);
      abandon();
      finish();
    },
    { poll: true },
  );
  waitForRelay(0);
  requestFromHolder();
  cancel = clock.timer(CHECK_MS, () => void check());
  return () => {
    if (!isStopped) abandon();
  };
}

const HOLDER_LOST = 'The replica that handled this request is no longer available. The request may have run.';
