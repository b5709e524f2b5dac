import { GatewayError } from '@behalf/gateway';
import type { Cancel, Random } from '@behalf/kernel';
import { faultOf, faultText } from '../rpcFault.ts';
import type { Place } from '../session/mailbox.ts';
import type { ReadEventId } from './eventIds.ts';
import type { MessageStream } from './messageStream.ts';
import { aliveOf, type RelayedWord, type RelayParts } from './relay.ts';

export interface AttendParts extends RelayParts {
  readonly random: Random;
  /** Asks the holder of a stream for it. */
  readonly want: (place: Place, of: ReadEventId, attempt: string) => Promise<void>;
}

/** Kept at the end of a stream that nobody read. */
export type KeptWord = readonly (readonly [seq: number, text: string])[];

const CHECK_MS = 2_000;
/** So long without a sign of life, and the holder is gone. */
const SILENT_MS = 6_000;

/**
 * The stream is held by another replica, or was by one that is gone: the reader hears what that one tells, or finds what it
 * left. Where neither comes, the request may have run and its outcome is told as uncertain. Returns how to stop.
 */
export function attend(parts: AttendParts, place: Place, of: ReadEventId, reader: MessageStream): () => void {
  const { cache, mailbox, clock } = parts;
  const attempt = parts.random.id();
  let seenAt = clock.now();
  let lastBeat: string | undefined;
  let delivered = of.seq;
  let wanted = false;
  let over = false;
  let cancel: Cancel = () => undefined;
  let stopWord: () => void = () => undefined;

  function stop(): void {
    over = true;
    cancel();
    stopWord();
    stopKept();
  }

  /** Whoever holds the stream tells nobody from here on. */
  function leave(): void {
    stop();
    mailbox.post(place, `left:${attempt}`, 'left').catch(() => undefined);
  }

  function finish(fault?: GatewayError): void {
    if (fault) reader.send(faultText(of.request, faultOf(fault, 'legacy')));
    reader.end();
  }

  function tell(seq: number, text: string): void {
    if (seq <= delivered) return;
    delivered = seq;
    reader.send(text, `${of.beginning}.${seq}`);
  }

  function hear(number: number): void {
    const onWord = (text: string) => {
      const { events, over: isLast, tooLarge } = JSON.parse(text) as RelayedWord;
      seenAt = clock.now();
      for (const [message, id] of events) tell(Number(id.slice(id.lastIndexOf('.') + 1)), message);
      if (!isLast) {
        hear(number + 1);
        return;
      }
      stop();
      finish(tooLarge && new GatewayError('MCP_RESPONSE_TOO_LARGE'));
    };
    stopWord = mailbox.wait(place, `relay:${attempt}:${number}`, onWord, { poll: true });
  }

  function ask(): void {
    parts.want(place, of, attempt).then(
      () => (wanted = true),
      // The store does not answer: once more with the next look.
      () => undefined,
    );
  }

  async function check(): Promise<void> {
    if (!wanted) ask();
    try {
      const beat = await cache.get(aliveOf(attempt));
      if (beat !== undefined && beat !== lastBeat) seenAt = clock.now();
      lastBeat = beat;
    } catch {
      // No sign of life is what it looks like from here.
    }
    if (over) return;
    if (clock.now() - seenAt >= SILENT_MS) {
      leave();
      finish(new GatewayError('MCP_OUTCOME_UNCERTAIN', { detail: GONE }));
    } else cancel = clock.timer(CHECK_MS, () => void check());
  }

  reader.begin();
  const stopKept = mailbox.wait(
    place,
    `stream:${of.stream}`,
    (word) => {
      for (const [seq, text] of JSON.parse(word) as KeptWord) tell(seq, text);
      leave();
      finish();
    },
    { poll: true },
  );
  hear(0);
  ask();
  cancel = clock.timer(CHECK_MS, () => void check());
  return () => {
    if (!over) leave();
  };
}

const GONE = 'The replica that held this request is gone. It may have run.';
