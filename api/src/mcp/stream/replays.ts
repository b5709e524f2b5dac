import type { Cancel, Clock, Random } from '@behalf/kernel';
import type { Mailbox, Place } from '../session/mailbox.ts';
import type { MessageStream } from './messageStream.ts';

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
  begin(place: Place, reader: MessageStream): Replay;
  /**
   * Goes on after this event. Returns how to stop, for a reader that leaves; undefined when it names no stream of this
   * session, here or elsewhere.
   */
  resume(place: Place, lastEventId: string, reader: MessageStream): (() => void) | undefined;
  /** How many streams are kept. */
  readonly size: number;
  close(): void;
}

export interface ReplayParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly limits?: Partial<ReplayLimits>;
}

export interface ReplayLimits {
  readonly streams: number;
  /** Of all streams together. */
  readonly bytes: number;
  /** Of one. */
  readonly streamBytes: number;
  /** What another replica is told of a stream that ended without a reader. */
  readonly elsewhereBytes: number;
  readonly keptMs: number;
}

const replayLimits: ReplayLimits = {
  streams: 2_000,
  bytes: 64 * 1024 * 1024,
  streamBytes: 4 * 1024 * 1024,
  elsewhereBytes: 256 * 1024,
  keptMs: 60_000,
};

type Event = readonly [seq: number, text: string];

interface Kept {
  readonly place: Place;
  readonly id: string;
  events: Event[];
  bytes: number;
  reader: MessageStream;
  over: boolean;
  cancel: Cancel;
}

const EVENT_ID = /^([A-Za-z0-9_-]{22})\.(\d{1,9})$/;

export function createReplays({ clock, random, mailbox, limits }: ReplayParts): Replays {
  const most = { ...replayLimits, ...limits };
  const streams = new Map<string, Kept>();
  let bytes = 0;

  function forget(kept: Kept): void {
    if (!streams.delete(kept.id)) return;
    kept.cancel();
    bytes -= kept.bytes;
  }

  /** Those that are over go first; one that still runs is only kept from growing. */
  function makeRoom(): void {
    for (const kept of streams.values()) {
      if (bytes <= most.bytes && streams.size <= most.streams) return;
      if (kept.over) forget(kept);
    }
  }

  function keep(kept: Kept, event: Event): void {
    const size = event[1].length;
    kept.events.push(event);
    kept.bytes += size;
    bytes += size;
    while (kept.bytes > most.streamBytes) shift(kept);
    makeRoom();
    // Nothing that is over is left to drop: who says more pays for it.
    while (bytes > most.bytes && kept.events.length > 0) shift(kept);
  }

  function shift(kept: Kept): void {
    const [, text] = kept.events.shift() as Event;
    kept.bytes -= text.length;
    bytes -= text.length;
  }

  /** Nobody was there to read the end: whoever asks for it may ask another replica. */
  function leaveWord(kept: Kept): void {
    const text = JSON.stringify(kept.events);
    if (text.length > most.elsewhereBytes) return;
    void mailbox.post(kept.place, `stream:${kept.id}`, text).catch(() => undefined);
  }

  return {
    begin(place, reader) {
      const id = random.id();
      let seq = 0;
      const kept: Kept = { place, id, events: [], bytes: 0, reader, over: false, cancel: () => undefined };
      streams.set(id, kept);
      makeRoom();
      const next = (text: string) => {
        seq += 1;
        if (!kept.over && streams.has(id)) keep(kept, [seq, text]);
        return `${id}.${seq}`;
      };
      const emit = (text: string) => kept.reader.send(text, next(text));
      return {
        emit,
        hint: (text) => kept.reader.hint(text, next(text)),
        drop() {
          kept.reader.end();
          forget(kept);
        },
        prime: () => kept.reader.send('', `${id}.${seq}`),
        finish(text) {
          emit(text);
          kept.over = true;
          const isRead = kept.reader.open;
          kept.reader.end();
          if (!isRead) leaveWord(kept);
          kept.cancel = clock.timer(most.keptMs, () => forget(kept));
        },
      };
    },
    resume(place, lastEventId, reader) {
      const [, id = '', seq = ''] = EVENT_ID.exec(lastEventId) ?? [];
      if (id === '') return undefined;
      const after = Number(seq);
      const replay = (events: readonly Event[]) => {
        for (const [number, text] of events) if (number > after) reader.send(text, `${id}.${number}`);
      };
      const kept = streams.get(id);
      if (!kept) {
        reader.begin();
        const stop = mailbox.wait(
          place,
          `stream:${id}`,
          (word) => {
            giveUp();
            replay(JSON.parse(word) as Event[]);
            reader.end();
          },
          { poll: true },
        );
        const giveUp = clock.timer(ELSEWHERE_MS, () => {
          stop();
          reader.end();
        });
        return () => {
          stop();
          giveUp();
        };
      }
      if (kept.place.key !== place.key) return undefined;
      kept.reader.end();
      reader.begin();
      kept.reader = reader;
      replay(kept.events);
      if (kept.over) reader.end();
      // It goes on without a reader, as it did before.
      return () => undefined;
    },
    get size() {
      return streams.size;
    },
    close() {
      for (const kept of [...streams.values()]) forget(kept);
    },
  };
}

/** For how long a stream of another replica is waited for: longer than that nobody calls a tool. */
const ELSEWHERE_MS = 5 * 60_000;
