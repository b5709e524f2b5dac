import { GatewayError } from '@behalf/gateway';
import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import type { Cancel, Clock, Keyring, Random, SealContext } from '@behalf/kernel';
import type { MessageStream } from '../../../http/sse.ts';
import { type RpcId, rpcErrorText, toRpcFault } from '../rpc.ts';
import type { Mailbox, SessionKey } from '../session/mailbox.ts';
import type { SharedLists } from '../session/sharedLists.ts';

/** Who reads the stream of a call, here or elsewhere. */
export type StreamSink = Pick<MessageStream, 'isOpen' | 'send' | 'sendIfReady' | 'end'>;

interface StreamRelayParts {
  readonly cache: Cache;
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly clock: Clock;
}

/** What is told to the other replica at once. */
interface RelayMessage {
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

interface StreamRelay extends StreamSink {
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

function heartbeatKey(attemptId: string): string {
  return `heartbeat:${attemptId}`;
}

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

/** Streams that clients ask one replica for and another one holds. One list for each that holds some: a notice costs one look. */
interface RemoteStreamRequests {
  /** Tells the replica that holds the stream. `word` is for it alone. */
  post(replica: string, streamId: string, message: string): Promise<void>;
  close(): void;
}

export interface RemoteStreamRequestParts {
  readonly lists: SharedLists;
  readonly changes: Pick<ChangeFeed, 'publish' | 'subscribe'>;
  readonly clock: Clock;
  /** Names this process. */
  readonly replica: string;
  /** Once for each word. Not heard of again: whoever asked sees that nobody answers. */
  readonly onRequest: (streamId: string, message: string) => void;
}

/** Whoever has not been heard by then has given up. */
const REQUEST_TTL_MS = 30_000;
const MAX_REQUESTS = 500;

type RequestEntry = readonly [streamId: string, message: string, expiresAt: number];

export function createRemoteStreamRequests({
  lists,
  changes,
  clock,
  replica,
  onRequest,
}: RemoteStreamRequestParts): RemoteStreamRequests {
  /** What was heard and may still stand in the list. */
  let seen = new Set<string>();
  let isChecking = false;
  let isRequested = false;
  const ownKey = requestListKey(replica);

  async function check(): Promise<void> {
    isRequested = true;
    if (isChecking) return;
    isChecking = true;
    while (isRequested) {
      isRequested = false;
      try {
        const list = await lists.read(ownKey);
        const fresh = list.filter((text) => !seen.has(text));
        seen = new Set(list);
        for (const text of fresh) handle(text);
      } catch {
        // The store does not answer: whoever wants something says so again.
      }
    }
    isChecking = false;
  }

  function handle(text: string): void {
    try {
      const [streamId, message, expiresAt] = JSON.parse(text) as RequestEntry;
      if (clock.now() < expiresAt) onRequest(streamId, message);
    } catch {
      // No word of ours: the others are.
    }
  }

  const close = changes.subscribe(({ topic, id }) => {
    if (topic === 'mcpSessions' && (id === ownKey || id === '*')) void check();
  });

  return {
    async post(holder, streamId, message) {
      const entry: RequestEntry = [streamId, message, clock.now() + REQUEST_TTL_MS];
      await lists.change(requestListKey(holder), REQUEST_TTL_MS, (list) => [
        ...list.filter(isLive).slice(1 - MAX_REQUESTS),
        JSON.stringify(entry),
      ]);
      await changes.publish({ topic: 'mcpSessions', id: requestListKey(holder) });
    },
    close,
  };

  function isLive(text: string): boolean {
    return clock.now() < (JSON.parse(text) as RequestEntry)[2];
  }
}

function requestListKey(replica: string): string {
  return `wants:${replica}`;
}

/** Which stream an event is of. */
interface StreamIdentity {
  readonly streamId: string;
  /** The process that holds it. */
  readonly replica: string;
  /** What the client called its request. */
  readonly requestId: RpcId;
}

export interface EventIds {
  /** What all ids of this stream begin with; undefined when the client's own id is too long to be carried by each. */
  createPrefix(sessionKey: SessionKey, name: StreamIdentity): string | undefined;
  /** Undefined for what is no event of a stream of this session, whatever else it may be. */
  parse(sessionKey: SessionKey, id: string): ParsedEventId | undefined;
}

interface ParsedEventId extends StreamIdentity {
  readonly prefix: string;
  readonly seq: number;
}

const MAX_REQUEST_ID_LENGTH = 256;
const MAX_ID_LENGTH = 2_048;

/**
 * An id of an event is sealed to its session, and tells any replica whose stream it is of and what it answers: also when
 * nobody is left who could say.
 */
export function createEventIds(keyring: Keyring): EventIds {
  return {
    createPrefix(sessionKey, { streamId, replica, requestId }) {
      if (String(requestId).length > MAX_REQUEST_ID_LENGTH) return undefined;
      return keyring.seal(JSON.stringify([streamId, replica, requestId]), toSealContext(sessionKey));
    },
    parse(sessionKey, id) {
      const [, prefix = '', seq = ''] = /^(.+)\.(\d{1,9})$/.exec(id.slice(0, MAX_ID_LENGTH)) ?? [];
      if (prefix === '' || id.length > MAX_ID_LENGTH) return undefined;
      let text: string;
      try {
        text = keyring.open(prefix, toSealContext(sessionKey));
      } catch {
        // Of another session, of a key we no longer have, or made up.
        return undefined;
      }
      const [streamId, replica, requestId] = JSON.parse(text) as [string, string, RpcId];
      return { streamId, replica, requestId, prefix, seq: Number(seq) };
    },
  };
}

function toSealContext({ tenant, principal, key }: SessionKey): SealContext {
  return { tenant, principal, server: '-', kind: 'mcp-event', field: 'id', binding: [key] };
}
