import { GatewayError } from '@behalf/gateway';
import type { ChangeFeed } from '@behalf/gateway/ports';
import { type Clock, type Keyring, type Random, coalesce } from '@behalf/kernel';
import type { MessageStream } from '../../../http/sse.ts';
import {
  MAX_RELAY_MESSAGE_LENGTH,
  type RelayParts,
  createRelayWriter,
  openRelayReader,
} from '../relay/relayChannel.ts';
import type { SharedLists } from '../relay/sharedLists.ts';
import { type RpcId, rpcErrorText, toRpcFault } from '../rpc.ts';
import { type SessionKey, openJson, sessionSealContext } from '../sealed.ts';

/*
 * Streams that a client resumes at another replica than the one that holds them. The reading replica asks the holder through a
 * list in the store (`createRemoteStreamRequests`), and the relay returns the events.
 */

/** The receiver of stream events: a client at this replica, or a relay to another replica. */
export type StreamSink = Pick<MessageStream, 'isOpen' | 'send' | 'sendIfReady' | 'end'>;

interface RelayedEvents {
  readonly events: readonly (readonly [text: string, id: string])[];
  readonly isLast: boolean;
  readonly isTooLarge?: true;
}

/** If more is queued, notifications are dropped. */
const MAX_QUEUE_LENGTH = 256 * 1024;

/** The holder's end: a sink whose events the client reads at another replica. */
export function createStreamRelay(
  parts: RelayParts,
  sessionKey: SessionKey,
  attemptId: string,
): StreamSink & { /** Closes the relay without ending the stream of the reader. */ abandon(): void } {
  let queue: [text: string, id: string][] = [];
  let queuedLength = 0;
  let isEnded = false;

  const writer = createRelayWriter(parts, sessionKey, attemptId, {
    takeMessage() {
      if (queue.length === 0 && !isEnded) return undefined;
      const message: RelayedEvents =
        queuedLength > MAX_RELAY_MESSAGE_LENGTH
          ? { events: [], isLast: true, isTooLarge: true }
          : { events: queue, isLast: isEnded };
      clear();
      return { text: JSON.stringify(message), isLast: message.isLast };
    },
    onCancelled: clear,
  });

  function clear(): void {
    queue = [];
    queuedLength = 0;
  }

  function write(text: string, id = ''): void {
    if (isEnded || writer.isClosed) return;
    queue.push([text, id]);
    queuedLength += text.length + id.length;
    writer.flush();
  }

  return {
    // This replica does not know whether the client still reads, so the end of the stream is stored in addition.
    isOpen: false,
    send: write,
    sendIfReady(text, id) {
      if (queuedLength <= MAX_QUEUE_LENGTH) write(text, id);
    },
    end() {
      isEnded = true;
      writer.flush();
    },
    abandon() {
      clear();
      writer.close();
    },
  };
}

export interface RemoteStreamParts extends RelayParts {
  readonly random: Random;
  /** Asks the holder of a stream to relay it. */
  readonly requestStream: (
    sessionKey: SessionKey,
    eventId: ParsedEventId,
    attemptId: string,
  ) => Promise<void>;
}

/** The events that the holder stores if a stream ends without a reader. */
export type StoredEvents = readonly (readonly [seq: number, text: string])[];

const HOLDER_TIMEOUT_MS = 6_000;
const HOLDER_LOST = 'The replica that handled this request is no longer available. The request may have run.';

/**
 * Reads a stream that another replica holds: from the relay, or from the store if the stream has ended. If the holder does not
 * respond, the client receives MCP_OUTCOME_UNCERTAIN, because the request may have run. Returns a function that stops reading.
 */
export function readRemoteStream(
  parts: RemoteStreamParts,
  sessionKey: SessionKey,
  eventId: ParsedEventId,
  sink: MessageStream,
): () => void {
  const { mailbox } = parts;
  const attemptId = parts.random.id();
  let lastDeliveredSeq = eventId.seq;

  function deliver(seq: number, text: string): void {
    if (seq <= lastDeliveredSeq) return;
    lastDeliveredSeq = seq;
    sink.send(text, `${eventId.prefix}.${seq}`);
  }

  function finish(fault?: GatewayError): void {
    stopStoredWait();
    if (fault) sink.send(rpcErrorText(eventId.requestId, toRpcFault(fault, 'legacy')));
    sink.end();
  }

  sink.start();
  const leave = openRelayReader(parts, sessionKey, attemptId, {
    holderTimeoutMs: HOLDER_TIMEOUT_MS,
    sendRequest: () => parts.requestStream(sessionKey, eventId, attemptId),
    onMessage(message) {
      const { events, isLast, isTooLarge } = JSON.parse(message) as RelayedEvents;
      for (const [text, id] of events) deliver(Number(id.slice(id.lastIndexOf('.') + 1)), text);
      if (isLast) finish(isTooLarge && new GatewayError('MCP_RESPONSE_TOO_LARGE'));
      return isLast;
    },
    onLost: () => finish(new GatewayError('MCP_OUTCOME_UNCERTAIN', { detail: HOLDER_LOST })),
  });
  const onStored = (message: string) => {
    for (const [seq, text] of JSON.parse(message) as StoredEvents) deliver(seq, text);
    leave();
    finish();
  };
  const stopStoredWait = mailbox.wait(sessionKey, storedEventsName(eventId.streamId), onStored, {
    shouldPoll: true,
  });
  return () => {
    stopStoredWait();
    leave();
  };
}

/** The name of the mailbox message with the stored events of a stream. */
export function storedEventsName(streamId: string): string {
  return `stream:${streamId}`;
}

export interface RemoteStreamRequestParts {
  readonly lists: SharedLists;
  readonly changes: Pick<ChangeFeed, 'publish' | 'subscribe'>;
  readonly clock: Clock;
  /** Identifies this replica. */
  readonly replica: string;
  /** Called once per request. */
  readonly onRequest: (streamId: string, message: string) => void;
}

/** The reader gives up before this time. */
const REQUEST_TTL_MS = 30_000;
const MAX_REQUESTS = 500;

type RequestEntry = readonly [streamId: string, message: string, expiresAt: number];

/**
 * Requests for streams that other replicas hold. Each replica has one list of requests, so that a notification costs it one read
 * instead of one per stream that it holds.
 */
export function createRemoteStreamRequests({
  lists,
  changes,
  clock,
  replica,
  onRequest,
}: RemoteStreamRequestParts) {
  /** Entries that were handled and may still be in the list. */
  let seen = new Set<string>();
  const ownKey = requestListKey(replica);

  const check = coalesce(async () => {
    const list = await lists.read(ownKey);
    const fresh = list.filter((text) => !seen.has(text));
    seen = new Set(list);
    for (const text of fresh) handle(text);
  });

  function handle(text: string): void {
    try {
      const [streamId, message, expiresAt] = JSON.parse(text) as RequestEntry;
      if (clock.now() < expiresAt) onRequest(streamId, message);
    } catch {
      // An entry that the gateway did not write must not prevent the others.
    }
  }

  function isLive(text: string): boolean {
    return clock.now() < (JSON.parse(text) as RequestEntry)[2];
  }

  const close = changes.subscribe(({ topic, id }) => {
    // If the store fails, the reader repeats its request or gives up.
    if (topic === 'mcpSessions' && (id === ownKey || id === '*')) check().catch(() => undefined);
  });

  return {
    /** Sends a request to the replica that holds a stream. */
    async post(holder: string, streamId: string, message: string): Promise<void> {
      const entry: RequestEntry = [streamId, message, clock.now() + REQUEST_TTL_MS];
      await lists.change(requestListKey(holder), REQUEST_TTL_MS, (list) => [
        ...list.filter(isLive).slice(1 - MAX_REQUESTS),
        JSON.stringify(entry),
      ]);
      await changes.publish({ topic: 'mcpSessions', id: requestListKey(holder) });
    },
    close,
  };
}

function requestListKey(replica: string): string {
  return `stream-requests:${replica}`;
}

interface StreamIdentity {
  readonly streamId: string;
  /** The replica that holds the stream. */
  readonly replica: string;
  /** The JSON-RPC id of the request. */
  readonly requestId: RpcId;
}

export interface ParsedEventId extends StreamIdentity {
  readonly prefix: string;
  readonly seq: number;
}

const MAX_REQUEST_ID_LENGTH = 256;
const MAX_ID_LENGTH = 2_048;

export type EventIds = ReturnType<typeof createEventIds>;

/**
 * SSE event ids. An id is sealed to its session and names the stream, its holder and the request, so that any replica can resume
 * the stream or report its loss, and no other session can.
 */
export function createEventIds(keyring: Keyring) {
  return {
    /** The common prefix of all ids of a stream. Undefined if the request id is too long to repeat in each event. */
    createPrefix(
      sessionKey: SessionKey,
      { streamId, replica, requestId }: StreamIdentity,
    ): string | undefined {
      if (String(requestId).length > MAX_REQUEST_ID_LENGTH) return undefined;
      const text = JSON.stringify([streamId, replica, requestId]);
      return keyring.seal(text, sessionSealContext(sessionKey, 'mcp-event'));
    },
    /** Undefined if the id is not an event of a stream of this session. */
    parse(sessionKey: SessionKey, id: string): ParsedEventId | undefined {
      const [, prefix = '', seq = ''] = /^(.+)\.(\d{1,9})$/.exec(id.slice(0, MAX_ID_LENGTH)) ?? [];
      if (prefix === '' || id.length > MAX_ID_LENGTH) return undefined;
      const value = openJson(keyring, prefix, sessionSealContext(sessionKey, 'mcp-event'), MAX_ID_LENGTH);
      if (value === undefined) return undefined;
      const [streamId, replica, requestId] = value as [string, string, RpcId];
      return { streamId, replica, requestId, prefix, seq: Number(seq) };
    },
  };
}
