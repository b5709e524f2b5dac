import type { JsonObject } from '@behalf/gateway';
import type { Cancel, Clock } from '@behalf/kernel';
import type { Mailbox, Place } from '../session/mailbox.ts';
import type { Attendant } from './parkedCall.ts';

/** What a server said besides during a call. */
export interface Said {
  /** Only the last: whoever hears it late has missed nothing. */
  readonly progress?: JsonObject;
  readonly logs: readonly JsonObject[];
}

export interface SayingParts {
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly clock: Clock;
}

/** A word to another replica is a write to the store: what comes close together is one. */
const GATHER_MS = 250;
/** Of what comes in one such time. A server that writes more loses what is over: the store is everybody's. */
const MOST_LOGS = 50;
const LONGEST_WORD = 64 * 1024;

/** Tells a request that waits at another replica what the server says, word by word. */
export interface Saying extends Required<Pick<Attendant, 'onProgress' | 'onLog'>> {
  /** What was not told yet: it goes with the result. Nothing is told any more. */
  rest(): Said | undefined;
}

export function createSaying({ mailbox, clock }: SayingParts, place: Place, attempt: string): Saying {
  let progress: JsonObject | undefined;
  let logs: JsonObject[] = [];
  let size = 0;
  let told = 0;
  let timer: Cancel | undefined;
  let over = false;

  function take(): Said | undefined {
    timer?.();
    timer = undefined;
    if (progress === undefined && logs.length === 0) return undefined;
    const said = { ...(progress && { progress }), logs };
    progress = undefined;
    logs = [];
    size = 0;
    return said;
  }

  function tell(): void {
    const said = take();
    if (!said) return;
    mailbox.post(place, wordOf(attempt, told), JSON.stringify(said)).catch(() => undefined);
    told += 1;
  }

  function soon(): void {
    if (!over) timer ??= clock.timer(GATHER_MS, tell);
  }

  return {
    onProgress(params) {
      if (JSON.stringify(params).length > LONGEST_WORD) return;
      progress = params;
      soon();
    },
    onLog(params) {
      const length = JSON.stringify(params).length;
      if (logs.length >= MOST_LOGS || size + length > LONGEST_WORD) return;
      size += length;
      logs.push(params);
      soon();
    },
    rest() {
      over = true;
      return take();
    },
  };
}

/** The other end of it. Returns how to stop. */
export function hearSaying(
  { mailbox }: Pick<SayingParts, 'mailbox'>,
  place: Place,
  attempt: string,
  onSaid: (said: Said) => void,
): () => void {
  let heard = 0;
  const next = (): (() => void) =>
    mailbox.wait(
      place,
      wordOf(attempt, heard),
      (word) => {
        heard += 1;
        stop = next();
        onSaid(JSON.parse(word) as Said);
      },
      { poll: true },
    );
  let stop = next();
  return () => stop();
}

function wordOf(attempt: string, number: number): string {
  return `said:${attempt}:${number}`;
}
