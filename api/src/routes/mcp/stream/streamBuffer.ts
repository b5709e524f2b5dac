import { GatewayError } from '@behalf/gateway';
import type { Cancel, Clock, Keyring, SealContext } from '@behalf/kernel';
import type { MessageStream } from '../../../http/sse.ts';
import { type RpcId, rpcErrorText, toRpcFault } from '../rpc.ts';
import type { SessionKey } from '../session/mailbox.ts';
import {
  type EventIds,
  type RemoteStreamParts,
  type RemoteStreamRequestParts,
  type StoredEvents,
  type StreamSink,
  createRemoteStreamRequests,
  createStreamRelay,
  readRemoteStream,
} from './streamRelay.ts';

/** The stream of one legacy request, which its client may lose and take up again: here, or at another replica. */
export interface BufferedStream {
  /** Sent to who reads, and kept for who comes back. The oldest are forgotten first. */
  emit(text: string): void;
  /** Kept alike, and sent when who reads keeps up. */
  sendIfReady(text: string): void;
  /** Says nothing but where the stream can be taken up again. */
  sendPrimingEvent(): void;
  /** The last message. */
  finish(text: string): void;
  /** Ends without one, for who reads it too: nobody comes back for it. */
  drop(): void;
}

export interface StreamBuffers {
  /** Undefined when it cannot be taken up again: the client's own id is too long to be part of every event's. */
  begin(sessionKey: SessionKey, requestId: RpcId, sink: MessageStream): BufferedStream | undefined;
  /**
   * Goes on after this event. Returns how to stop, for a reader that leaves; undefined when it names no stream of this
   * session, here or elsewhere.
   */
  resume(sessionKey: SessionKey, lastEventId: string, sink: MessageStream): (() => void) | undefined;
  /** How many streams are kept. */
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
  /** Of all streams together. */
  readonly maxBytes: number;
  /** Of all streams of one user: whoever says much takes no room from the others. */
  readonly maxUserBytes: number;
  /** Of one. */
  readonly maxStreamBytes: number;
  /** What another replica is told of a stream that ended without a reader. */
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
  /** Of the ids of its events. */
  readonly prefix: string;
  events: StoredEvent[];
  bytes: number;
  sink: StreamSink;
  isFinished: boolean;
  cancel: Cancel;
  /** Of another replica that wants it, and has to wait for its turn. */
  cancelRemoteRequest: Cancel;
}

/** What a replica that wants a stream says to the one that holds it. */
type RemoteStreamRequest = readonly [attempt: string, after: number];

export function createStreamBuffers(parts: StreamBufferParts): StreamBuffers {
  const { clock, random, mailbox, keyring, eventIds, replica } = parts;
  const limits = { ...streamBufferLimits, ...parts.limits };
  const streams = new Map<string, StreamEntry>();
  const throttle = createPerUserThrottle(clock);
  let totalBytes = 0;
  /** By user. */
  const bytesByUser = new Map<string, number>();

  function addBytes({ sessionKey: { principal } }: StreamEntry, delta: number): void {
    totalBytes += delta;
    const sum = (bytesByUser.get(principal) ?? 0) + delta;
    if (sum > 0) bytesByUser.set(principal, sum);
    else bytesByUser.delete(principal);
  }

  function removeStream(entry: StreamEntry): void {
    if (!streams.delete(entry.id)) return;
    entry.cancel();
    entry.cancelRemoteRequest();
    addBytes(entry, -entry.bytes);
  }

  /**
   * Those that are over go first, of who says more where it is theirs that is too much; one that still runs is only kept
   * from growing.
   */
  function evict(owner: StreamEntry): void {
    for (const entry of streams.values()) {
      const isFull = totalBytes > limits.maxBytes || streams.size > limits.maxStreams;
      if (!isFull && userBytes(owner) <= limits.maxUserBytes) return;
      if (entry.isFinished && (isFull || entry.sessionKey.principal === owner.sessionKey.principal))
        removeStream(entry);
    }
  }

  function append(entry: StreamEntry, event: StoredEvent): void {
    const size = event[1].length;
    entry.events.push(event);
    entry.bytes += size;
    addBytes(entry, size);
    while (entry.bytes > limits.maxStreamBytes) dropOldest(entry);
    evict(entry);
    // Nothing that is over is left to drop: who says more pays for it.
    while (
      entry.events.length > 0 &&
      (totalBytes > limits.maxBytes || userBytes(entry) > limits.maxUserBytes)
    )
      dropOldest(entry);
  }

  const userBytes = ({ sessionKey }: StreamEntry) => bytesByUser.get(sessionKey.principal) ?? 0;

  function dropOldest(entry: StreamEntry): void {
    const [, text] = entry.events.shift() as StoredEvent;
    entry.bytes -= text.length;
    addBytes(entry, -text.length);
  }

  /** Nobody was there to read the end: whoever asks for it may ask another replica. */
  function storeForRemote(entry: StreamEntry): void {
    const text = JSON.stringify(entry.events);
    if (text.length > limits.maxRemoteBytes) return;
    void mailbox.post(entry.sessionKey, `stream:${entry.id}`, text).catch(() => undefined);
  }

  /** Of several readers the last to come is the one that reads. */
  function attachSink(entry: StreamEntry, after: number, sink: StreamSink): void {
    entry.sink.end({ isReplaced: true });
    entry.sink = sink;
    for (const [seq, text] of entry.events) if (seq > after) sink.send(text, `${entry.prefix}.${seq}`);
    if (entry.isFinished) sink.end();
  }

  const remoteRequests = createRemoteStreamRequests({
    ...parts,
    onRequest(streamId, message) {
      const entry = streams.get(streamId);
      if (!entry) return;
      // Sealed to the session: nobody else who reaches the store takes a stream away from its reader.
      const [attemptId, after] = JSON.parse(
        keyring.open(message, toSealContext(entry.sessionKey, streamId)),
      ) as RemoteStreamRequest;
      // What is kept is posted whole for each of them, into a store that is everybody's: each has to wait for its turn, and
      // meanwhile hears that somebody is here.
      entry.cancelRemoteRequest();
      const relay = createStreamRelay(parts, entry.sessionKey, attemptId);
      const cancel = throttle(entry.sessionKey.principal, () => attachSink(entry, after, relay));
      entry.cancelRemoteRequest = () => {
        cancel();
        if (entry.sink !== relay) relay.abandon();
      };
    },
  });
  const remoteParts: RemoteStreamParts = {
    ...parts,
    requestStream: (sessionKey, { streamId, replica: holder, seq }, attemptId) => {
      const request: RemoteStreamRequest = [attemptId, seq];
      return remoteRequests.post(
        holder,
        streamId,
        keyring.seal(JSON.stringify(request), toSealContext(sessionKey, streamId)),
      );
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
        ...{ cancel: () => undefined, cancelRemoteRequest: () => undefined },
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
          // Whoever comes back for it is told at least that there was one.
          if (streams.has(id) && entry.events.at(-1)?.[0] !== seq)
            append(entry, [seq, notStoredText(requestId)]);
          entry.isFinished = true;
          const hasReader = entry.sink.isOpen;
          entry.sink.end();
          if (!hasReader) storeForRemote(entry);
          if (streams.has(id)) entry.cancel = clock.timer(limits.retentionMs, () => removeStream(entry));
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
      // It goes on without a reader, as it did before.
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
  return rpcErrorText(
    requestId,
    toRpcFault(new GatewayError('MCP_RESPONSE_TOO_LARGE', { detail }), 'legacy'),
  );
}

function toSealContext({ tenant, principal, key }: SessionKey, streamId: string): SealContext {
  return { tenant, principal, server: '-', kind: 'mcp-want', field: streamId, binding: [key] };
}

const INTERVAL_MS = 500;
/** Whoever would have to wait longer is not served: nobody who asks waits that long. */
const MAX_DELAY_MS = 5_000;
const MAX_USERS = 1_000;

/** Does the work of one user not more often than every half second, that of each in its turn. Returns how to stop. */
type PerUserThrottle = (user: string, work: () => void) => Cancel;

function createPerUserThrottle(clock: Clock): PerUserThrottle {
  const nextAllowed = new Map<string, number>();
  return (user, work) => {
    const now = clock.now();
    const runAt = Math.max(now, nextAllowed.get(user) ?? 0);
    if (runAt - now > MAX_DELAY_MS) return () => undefined;
    if (nextAllowed.size >= MAX_USERS)
      for (const [key, allowedAt] of nextAllowed) if (allowedAt <= now) nextAllowed.delete(key);
    nextAllowed.set(user, runAt + INTERVAL_MS);
    if (runAt > now) return clock.timer(runAt - now, work);
    work();
    return () => undefined;
  };
}
