import { GatewayError } from '@behalf/gateway';
import type { Cancel, Random } from '@behalf/kernel';
import { toRpcFault, rpcErrorText } from '../rpcFault.ts';
import type { SessionKey } from '../session/mailbox.ts';
import type { ParsedEventId } from './eventIds.ts';
import type { MessageStream } from './messageStream.ts';
import { heartbeatKey, type RelayMessage, type StreamRelayParts } from './streamRelay.ts';

export interface RemoteStreamParts extends StreamRelayParts {
  readonly random: Random;
  /** Asks the holder of a stream for it. */
  readonly requestStream: (
    sessionKey: SessionKey,
    eventId: ParsedEventId,
    attemptId: string,
  ) => Promise<void>;
}

/** Kept at the end of a stream that nobody read. */
export type StoredEvents = readonly (readonly [seq: number, text: string])[];

const HOLDER_CHECK_INTERVAL_MS = 2_000;
/** So long without a sign of life, and the holder is gone. */
const HOLDER_TIMEOUT_MS = 6_000;

/**
 * The stream is held by another replica, or was by one that is gone: the reader hears what that one tells, or finds what it
 * left. Where neither comes, the request may have run and its outcome is told as uncertain. Returns how to stop.
 */
export function readRemoteStream(
  parts: RemoteStreamParts,
  sessionKey: SessionKey,
  eventId: ParsedEventId,
  sink: MessageStream,
): () => void {
  const { cache, mailbox, clock } = parts;
  const attemptId = parts.random.id();
  let lastSeenAt = clock.now();
  let lastHeartbeat: string | undefined;
  let lastDeliveredSeq = eventId.seq;
  let isRequested = false;
  let isStopped = false;
  let cancelCheck: Cancel = () => undefined;
  let stopRelayWait: () => void = () => undefined;

  function stop(): void {
    isStopped = true;
    cancelCheck();
    stopRelayWait();
    stopStoredWait();
  }

  /** Whoever holds the stream tells nobody from here on. */
  function abandon(): void {
    stop();
    mailbox.post(sessionKey, `cancelled:${attemptId}`, 'cancelled').catch(() => undefined);
  }

  function finish(fault?: GatewayError): void {
    if (fault) sink.send(rpcErrorText(eventId.requestId, toRpcFault(fault, 'legacy')));
    sink.end();
  }

  function deliver(seq: number, text: string): void {
    if (seq <= lastDeliveredSeq) return;
    lastDeliveredSeq = seq;
    sink.send(text, `${eventId.prefix}.${seq}`);
  }

  function waitForRelay(relaySequence: number): void {
    const onMessage = (text: string) => {
      const { events, isLast, isTooLarge } = JSON.parse(text) as RelayMessage;
      lastSeenAt = clock.now();
      for (const [message, id] of events) deliver(Number(id.slice(id.lastIndexOf('.') + 1)), message);
      if (!isLast) {
        waitForRelay(relaySequence + 1);
        return;
      }
      stop();
      finish(isTooLarge && new GatewayError('MCP_RESPONSE_TOO_LARGE'));
    };
    stopRelayWait = mailbox.wait(sessionKey, `relay:${attemptId}:${relaySequence}`, onMessage, {
      shouldPoll: true,
    });
  }

  function requestStreamFromHolder(): void {
    parts.requestStream(sessionKey, eventId, attemptId).then(
      () => (isRequested = true),
      // The store does not answer: once more with the next look.
      () => undefined,
    );
  }

  async function checkHolder(): Promise<void> {
    if (!isRequested) requestStreamFromHolder();
    try {
      const heartbeat = await cache.get(heartbeatKey(attemptId));
      if (heartbeat !== undefined && heartbeat !== lastHeartbeat) lastSeenAt = clock.now();
      lastHeartbeat = heartbeat;
    } catch {
      // No sign of life is what it looks like from here.
    }
    if (isStopped) return;
    if (clock.now() - lastSeenAt >= HOLDER_TIMEOUT_MS) {
      abandon();
      finish(new GatewayError('MCP_OUTCOME_UNCERTAIN', { detail: HOLDER_LOST }));
    } else cancelCheck = clock.timer(HOLDER_CHECK_INTERVAL_MS, () => void checkHolder());
  }

  sink.start();
  const stopStoredWait = mailbox.wait(
    sessionKey,
    `stream:${eventId.streamId}`,
    (message) => {
      for (const [seq, text] of JSON.parse(message) as StoredEvents) deliver(seq, text);
      abandon();
      finish();
    },
    { shouldPoll: true },
  );
  waitForRelay(0);
  requestStreamFromHolder();
  cancelCheck = clock.timer(HOLDER_CHECK_INTERVAL_MS, () => void checkHolder());
  return () => {
    if (!isStopped) abandon();
  };
}

const HOLDER_LOST = 'The replica that handled this request is no longer available. The request may have run.';
