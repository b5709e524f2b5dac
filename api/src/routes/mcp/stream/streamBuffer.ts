import { GatewayError } from '@behalf/gateway';
import type { Cancel, Clock, Keyring } from '@behalf/kernel';
import type { MessageStream } from '../../../http/sse.ts';
import { createUserQuota } from '../../../http/userQuota.ts';
import { type RpcId, rpcErrorText, toRpcFault } from '../rpc.ts';
import { type SessionKey, sessionSealContext } from '../sealed.ts';
import {
  type EventIds,
  type RemoteStreamParts,
  type RemoteStreamRequestParts,
  type StoredEvents,
  type StreamSink,
  createRemoteStreamRequests,
  createStreamRelay,
  readRemoteStream,
  storedEventsName,
} from './streamRelay.ts';

/*
 * Resumable streams of legacy requests (MCP 2025-06-18, Streamable HTTP, resumability and redelivery). Invariants:
 * - Only requests of the same session can read a stream: event ids and requests between replicas are sealed to the session.
 * - A stream has one reader. A new reader replaces the previous one.
 * - A resumed stream continues after `Last-Event-ID`, in order and without duplicates. The oldest buffered events are dropped
 *   first, but the reader always learns that the request has completed.
 * - Buffers are limited per stream, per user and in total. Completed streams are evicted first.
 */

/** The stream of one legacy request. The client can reconnect and continue to read it, at any replica. */
export interface BufferedStream {
  /** Sends the message to the reader and buffers it. */
  emit(text: string): void;
  /** Like `emit`, but does not send the message to a reader that does not keep up. */
  sendIfReady(text: string): void;
  /** Sends an event without content, whose id allows the client to resume the stream. */
  sendPrimingEvent(): void;
  /** Sends the response and ends the stream. */
  finish(text: string): void;
  /** Ends the stream without a response and discards the buffer. */
  drop(): void;
}

export interface StreamBuffers {
  /** Undefined if the stream cannot be resumed because the request id is too long to repeat in each event. */
  begin(sessionKey: SessionKey, requestId: RpcId, sink: MessageStream): BufferedStream | undefined;
  /**
   * Resumes a stream after the given event. Returns a function for a reader that leaves. Undefined if the id names no stream of
   * this session.
   */
  resume(sessionKey: SessionKey, lastEventId: string, sink: MessageStream): (() => void) | undefined;
  /** The number of buffered streams. */
  readonly size: number;
  close(): void;
}

interface StreamBufferParts
  extends Omit<RemoteStreamParts, 'requestStream'>, Omit<RemoteStreamRequestParts, 'onRequest'> {
  readonly keyring: Keyring;
  readonly eventIds: EventIds;
  readonly limits?: Partial<StreamBufferLimits>;
}

export interface StreamBufferLimits {
  readonly maxStreams: number;
  /** All streams together. */
  readonly maxBytes: number;
  readonly maxUserBytes: number;
  readonly maxStreamBytes: number;
  /** Events that are stored for other replicas when a stream ends without a reader. */
  readonly maxRemoteBytes: number;
  readonly retentionMs: number;
}

const streamBufferLimits: StreamBufferLimits = {
  maxStreams: 2_000,
  maxBytes: 64 * 1024 * 1024,
  maxUserBytes: 16 * 1024 * 1024,
  maxStreamBytes: 4 * 1024 * 1024,
  maxRemoteBytes: 256 * 1024,
  retentionMs: 60_000,
};

type StoredEvent = StoredEvents[number];

interface StreamEntry {
  readonly sessionKey: SessionKey;
  readonly id: string;
  /** The common prefix of the event ids. */
  readonly prefix: string;
  events: StoredEvent[];
  bytes: number;
  sink: StreamSink;
  isFinished: boolean;
  cancelRetention: Cancel;
  /** Cancels a request of another replica that waits for the throttle. */
  cancelRemoteRequest: Cancel;
}

/** The sealed message that asks the holder for a stream. */
type RemoteStreamRequest = readonly [attemptId: string, after: number];

export function createStreamBuffers(parts: StreamBufferParts): StreamBuffers {
  const { clock, random, mailbox, keyring, eventIds, replica } = parts;
  const limits = { ...streamBufferLimits, ...parts.limits };
  const streams = new Map<string, StreamEntry>();
  const throttle = createPerUserThrottle(clock);
  const quota = createUserQuota({ maxPerUser: limits.maxUserBytes, maxTotal: limits.maxBytes });

  function addBytes(entry: StreamEntry, delta: number): void {
    entry.bytes += delta;
    quota.add(entry.sessionKey.principal, delta);
  }

  function removeStream(entry: StreamEntry): void {
    if (!streams.delete(entry.id)) return;
    entry.cancelRetention();
    entry.cancelRemoteRequest();
    addBytes(entry, -entry.bytes);
  }

  /** Removes completed streams, oldest first: those of the same user, and if all streams exceed a limit, those of others. */
  function evict({ sessionKey: { principal } }: StreamEntry): void {
    for (const entry of streams.values()) {
      const isFull = quota.total > limits.maxBytes || streams.size > limits.maxStreams;
      if (!isFull && quota.used(principal) <= limits.maxUserBytes) return;
      if (entry.isFinished && (isFull || entry.sessionKey.principal === principal)) removeStream(entry);
    }
  }

  function append(entry: StreamEntry, event: StoredEvent): void {
    entry.events.push(event);
    addBytes(entry, event[1].length);
    while (entry.bytes > limits.maxStreamBytes) dropOldest(entry);
    evict(entry);
    // No completed stream is left to evict, so this stream loses its oldest events.
    while (entry.events.length > 0 && quota.exceeded(entry.sessionKey.principal, 0)) dropOldest(entry);
  }

  function dropOldest(entry: StreamEntry): void {
    const [, text] = entry.events.shift() as StoredEvent;
    addBytes(entry, -text.length);
  }

  /** Replaces the reader, and sends the events after `after`. */
  function attachSink(entry: StreamEntry, after: number, sink: StreamSink): void {
    entry.sink.end({ isReplaced: true });
    entry.sink = sink;
    for (const [seq, text] of entry.events) if (seq > after) sink.send(text, `${entry.prefix}.${seq}`);
    if (entry.isFinished) sink.end();
  }

  /** Opens a sealed request of another replica. Throws if it was not sealed to the session of the stream. */
  function relayStream(streamId: string, message: string): void {
    const entry = streams.get(streamId);
    if (!entry) return;
    const [attemptId, after] = JSON.parse(
      keyring.open(message, sessionSealContext(entry.sessionKey, 'mcp-stream-request', streamId)),
    ) as RemoteStreamRequest;
    // Each request writes the whole buffer to the shared store, so requests are throttled. The relay already sends heartbeats.
    entry.cancelRemoteRequest();
    const relay = createStreamRelay(parts, entry.sessionKey, attemptId);
    const cancel = throttle(entry.sessionKey.principal, () => attachSink(entry, after, relay));
    entry.cancelRemoteRequest = () => {
      cancel();
      if (entry.sink !== relay) relay.abandon();
    };
  }

  const remoteRequests = createRemoteStreamRequests({ ...parts, onRequest: relayStream });
  const remoteParts: RemoteStreamParts = {
    ...parts,
    requestStream(sessionKey, { streamId, replica: holder, seq }, attemptId) {
      const request: RemoteStreamRequest = [attemptId, seq];
      const context = sessionSealContext(sessionKey, 'mcp-stream-request', streamId);
      return remoteRequests.post(holder, streamId, keyring.seal(JSON.stringify(request), context));
    },
  };

  return {
    begin(sessionKey, requestId, sink) {
      const id = random.id();
      const prefix = eventIds.createPrefix(sessionKey, { streamId: id, replica, requestId });
      if (prefix === undefined) return undefined;
      let seq = 0;
      const entry: StreamEntry = {
        ...{ sessionKey, id, prefix, events: [], bytes: 0, sink, isFinished: false },
        ...{ cancelRetention: () => undefined, cancelRemoteRequest: () => undefined },
      };
      streams.set(id, entry);
      evict(entry);
      const nextId = (text: string) => {
        seq += 1;
        if (!entry.isFinished && streams.has(id)) append(entry, [seq, text]);
        return `${prefix}.${seq}`;
      };
      const emit = (text: string) => entry.sink.send(text, nextId(text));
      return {
        emit,
        sendIfReady: (text) => entry.sink.sendIfReady(text, nextId(text)),
        drop() {
          entry.sink.end();
          removeStream(entry);
        },
        sendPrimingEvent: () => entry.sink.send('', `${prefix}.${seq}`),
        finish(text) {
          emit(text);
          // If the response does not fit into the buffer, a later reader receives an error instead.
          if (streams.has(id) && entry.events.at(-1)?.[0] !== seq)
            append(entry, [seq, notStoredText(requestId)]);
          entry.isFinished = true;
          const hasReader = entry.sink.isOpen;
          entry.sink.end();
          const stored = hasReader ? '' : JSON.stringify(entry.events);
          // This replica may be gone when the client reconnects, so the events are stored for other replicas.
          if (!hasReader && stored.length <= limits.maxRemoteBytes)
            mailbox.post(sessionKey, storedEventsName(id), stored).catch(() => undefined);
          if (streams.has(id))
            entry.cancelRetention = clock.timer(limits.retentionMs, () => removeStream(entry));
        },
      };
    },
    resume(sessionKey, lastEventId, sink) {
      const eventId = eventIds.parse(sessionKey, lastEventId);
      if (!eventId) return undefined;
      const entry = streams.get(eventId.streamId);
      if (!entry) return readRemoteStream(remoteParts, sessionKey, eventId, sink);
      sink.start();
      attachSink(entry, eventId.seq, sink);
      // The request continues without a reader.
      return () => undefined;
    },
    get size() {
      return streams.size;
    },
    close() {
      remoteRequests.close();
      for (const entry of [...streams.values()]) removeStream(entry);
    },
  };
}

function notStoredText(requestId: RpcId): string {
  const detail = 'The request completed, but its response is too large to store for a reconnecting client.';
  const fault = toRpcFault(new GatewayError('MCP_RESPONSE_TOO_LARGE', { detail }), 'legacy');
  return rpcErrorText(requestId, fault);
}

const THROTTLE_INTERVAL_MS = 500;
/** Work that would have to wait longer is dropped: the reader gives up before. */
const MAX_THROTTLE_DELAY_MS = 5_000;
const MAX_THROTTLED_USERS = 1_000;

/** Runs the work of each user at most every 500 ms, in order. The returned function cancels work that still waits. */
function createPerUserThrottle(clock: Clock): (user: string, work: () => void) => Cancel {
  const nextAllowed = new Map<string, number>();
  return (user, work) => {
    const now = clock.now();
    const runAt = Math.max(now, nextAllowed.get(user) ?? 0);
    if (runAt - now > MAX_THROTTLE_DELAY_MS) return () => undefined;
    if (nextAllowed.size >= MAX_THROTTLED_USERS)
      for (const [key, allowedAt] of nextAllowed) if (allowedAt <= now) nextAllowed.delete(key);
    nextAllowed.set(user, runAt + THROTTLE_INTERVAL_MS);
    if (runAt > now) return clock.timer(runAt - now, work);
    work();
    return () => undefined;
  };
}
