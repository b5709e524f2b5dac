import { GatewayError } from '@behalf/gateway';
import type { Cancel, Keyring, SealContext } from '@behalf/kernel';
import type { RpcId } from '../message.ts';
import { faultOf, faultText } from '../rpcFault.ts';
import type { Place } from '../session/mailbox.ts';
import { attend, type AttendParts, type KeptWord } from './attend.ts';
import type { EventIds } from './eventIds.ts';
import type { MessageStream } from './messageStream.ts';
import { createRelay, type Reader } from './relay.ts';
import { createTurns } from './turns.ts';
import { createWants, type WantParts } from './wants.ts';

/** The stream of one legacy request, which its client may lose and take up again: here, or at another replica. */
export interface Replay {
  /** Sent to who reads, and kept for who comes back. The oldest are forgotten first. */
  emit(text: string): void;
  /** Kept alike, and sent when who reads keeps up. */
  hint(text: string): void;
  /** Says nothing but where the stream can be taken up again. */
  prime(): void;
  /** The last message. */
  finish(text: string): void;
  /** Ends without one, for who reads it too: nobody comes back for it. */
  drop(): void;
}

export interface Replays {
  /** Undefined when it cannot be taken up again: the client's own id is too long to be part of every event's. */
  begin(place: Place, request: RpcId, reader: MessageStream): Replay | undefined;
  /**
   * Goes on after this event. Returns how to stop, for a reader that leaves; undefined when it names no stream of this
   * session, here or elsewhere.
   */
  resume(place: Place, lastEventId: string, reader: MessageStream): (() => void) | undefined;
  /** How many streams are kept. */
  readonly size: number;
  close(): void;
}

export interface ReplayParts extends Omit<AttendParts, 'want'>, Omit<WantParts, 'onWanted'> {
  readonly keyring: Keyring;
  readonly eventIds: EventIds;
  readonly limits?: Partial<ReplayLimits>;
}

export interface ReplayLimits {
  readonly streams: number;
  /** Of all streams together. */
  readonly bytes: number;
  /** Of all streams of one user: whoever says much takes no room from the others. */
  readonly ownBytes: number;
  /** Of one. */
  readonly streamBytes: number;
  /** What another replica is told of a stream that ended without a reader. */
  readonly elsewhereBytes: number;
  readonly keptMs: number;
}

const replayLimits: ReplayLimits = {
  streams: 2_000,
  bytes: 64 * 1024 * 1024,
  ownBytes: 16 * 1024 * 1024,
  streamBytes: 4 * 1024 * 1024,
  elsewhereBytes: 256 * 1024,
  keptMs: 60_000,
};

type Event = KeptWord[number];

interface Kept {
  readonly place: Place;
  readonly id: string;
  /** Of the ids of its events. */
  readonly beginning: string;
  events: Event[];
  bytes: number;
  reader: Reader;
  over: boolean;
  cancel: Cancel;
  /** Of another replica that wants it, and has to wait for its turn. */
  cancelWant: Cancel;
}

/** What a replica that wants a stream says to the one that holds it. */
type Wanted = readonly [attempt: string, after: number];

export function createReplays(parts: ReplayParts): Replays {
  const { clock, random, mailbox, keyring, eventIds, replica } = parts;
  const most = { ...replayLimits, ...parts.limits };
  const streams = new Map<string, Kept>();
  const turns = createTurns(clock);
  let bytes = 0;
  /** By user. */
  const own = new Map<string, number>();

  function count({ place: { principal } }: Kept, more: number): void {
    bytes += more;
    const sum = (own.get(principal) ?? 0) + more;
    if (sum > 0) own.set(principal, sum);
    else own.delete(principal);
  }

  function forget(kept: Kept): void {
    if (!streams.delete(kept.id)) return;
    kept.cancel();
    kept.cancelWant();
    count(kept, -kept.bytes);
  }

  /**
   * Those that are over go first, of who says more where it is theirs that is too much; one that still runs is only kept
   * from growing.
   */
  function makeRoom(of: Kept): void {
    for (const kept of streams.values()) {
      const isFull = bytes > most.bytes || streams.size > most.streams;
      if (!isFull && sumOf(of) <= most.ownBytes) return;
      if (kept.over && (isFull || kept.place.principal === of.place.principal)) forget(kept);
    }
  }

  function keep(kept: Kept, event: Event): void {
    const size = event[1].length;
    kept.events.push(event);
    kept.bytes += size;
    count(kept, size);
    while (kept.bytes > most.streamBytes) shift(kept);
    makeRoom(kept);
    // Nothing that is over is left to drop: who says more pays for it.
    while (kept.events.length > 0 && (bytes > most.bytes || sumOf(kept) > most.ownBytes)) shift(kept);
  }

  const sumOf = ({ place }: Kept) => own.get(place.principal) ?? 0;

  function shift(kept: Kept): void {
    const [, text] = kept.events.shift() as Event;
    kept.bytes -= text.length;
    count(kept, -text.length);
  }

  /** Nobody was there to read the end: whoever asks for it may ask another replica. */
  function leaveWord(kept: Kept): void {
    const text = JSON.stringify(kept.events);
    if (text.length > most.elsewhereBytes) return;
    void mailbox.post(kept.place, `stream:${kept.id}`, text).catch(() => undefined);
  }

  /** Of several readers the last to come is the one that reads. */
  function read(kept: Kept, after: number, reader: Reader): void {
    kept.reader.end({ replaced: true });
    kept.reader = reader;
    for (const [seq, text] of kept.events) if (seq > after) reader.send(text, `${kept.beginning}.${seq}`);
    if (kept.over) reader.end();
  }

  const wants = createWants({
    ...parts,
    onWanted(stream, word) {
      const kept = streams.get(stream);
      if (!kept) return;
      // Sealed to the session: nobody else who reaches the store takes a stream away from its reader.
      const [attempt, after] = JSON.parse(keyring.open(word, contextOf(kept.place, stream))) as Wanted;
      // What is kept is posted whole for each of them, into a store that is everybody's: each has to wait for its turn, and
      // meanwhile hears that somebody is here.
      kept.cancelWant();
      const relay = createRelay(parts, kept.place, attempt);
      const cancel = turns(kept.place.principal, () => read(kept, after, relay));
      kept.cancelWant = () => {
        cancel();
        if (kept.reader !== relay) relay.leave();
      };
    },
  });
  const elsewhere: AttendParts = {
    ...parts,
    want: (place, { stream, replica: holder, seq }, attempt) => {
      const wanted: Wanted = [attempt, seq];
      return wants.post(holder, stream, keyring.seal(JSON.stringify(wanted), contextOf(place, stream)));
    },
  };

  return {
    begin(place, request, reader) {
      const id = random.id();
      const beginning = eventIds.begin(place, { stream: id, replica, request });
      if (beginning === undefined) return undefined;
      let seq = 0;
      const kept: Kept = {
        ...{ place, id, beginning, events: [], bytes: 0, reader, over: false },
        ...{ cancel: () => undefined, cancelWant: () => undefined },
      };
      streams.set(id, kept);
      makeRoom(kept);
      const next = (text: string) => {
        seq += 1;
        if (!kept.over && streams.has(id)) keep(kept, [seq, text]);
        return `${beginning}.${seq}`;
      };
      const emit = (text: string) => kept.reader.send(text, next(text));
      return {
        emit,
        hint: (text) => kept.reader.hint(text, next(text)),
        drop() {
          kept.reader.end();
          forget(kept);
        },
        prime: () => kept.reader.send('', `${beginning}.${seq}`),
        finish(text) {
          emit(text);
          // Whoever comes back for it is told at least that there was one.
          if (streams.has(id) && kept.events.at(-1)?.[0] !== seq) keep(kept, [seq, notKept(request)]);
          kept.over = true;
          const isRead = kept.reader.open;
          kept.reader.end();
          if (!isRead) leaveWord(kept);
          if (streams.has(id)) kept.cancel = clock.timer(most.keptMs, () => forget(kept));
        },
      };
    },
    resume(place, lastEventId, reader) {
      const of = eventIds.read(place, lastEventId);
      if (!of) return undefined;
      const kept = streams.get(of.stream);
      if (!kept) return attend(elsewhere, place, of, reader);
      reader.begin();
      read(kept, of.seq, reader);
      // It goes on without a reader, as it did before.
      return () => undefined;
    },
    get size() {
      return streams.size;
    },
    close() {
      wants.close();
      for (const kept of [...streams.values()]) forget(kept);
    },
  };
}

function notKept(request: RpcId): string {
  const detail = 'The request was answered, and the answer is too large to be kept for who comes back.';
  return faultText(request, faultOf(new GatewayError('MCP_RESPONSE_TOO_LARGE', { detail }), 'legacy'));
}

function contextOf({ tenant, principal, key }: Place, stream: string): SealContext {
  return { tenant, principal, server: '-', kind: 'mcp-want', field: stream, binding: [key] };
}
