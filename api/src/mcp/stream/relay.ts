import type { Cache } from '@behalf/gateway/ports';
import type { Cancel, Clock } from '@behalf/kernel';
import type { Mailbox, Place } from '../session/mailbox.ts';
import type { MessageStream } from './messageStream.ts';

/** Who reads the stream of a call, here or elsewhere. */
export type Reader = Pick<MessageStream, 'open' | 'send' | 'hint' | 'end'>;

export interface RelayParts {
  readonly cache: Cache;
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly clock: Clock;
}

/** What is told to the other replica at once. */
export interface RelayedWord {
  readonly events: readonly (readonly [text: string, id: string])[];
  /** Nothing comes after it. */
  readonly over: boolean;
  /** What there was to tell is more than a word may be. */
  readonly tooLarge?: true;
}

/** The holder counts on, so that the other one does not wait for a dead one. What it last said means nothing. */
const BEAT_MS = 2_000;
const ALIVE_MS = 10_000;
/** Progress comes often, and the store is everybody's. */
const CALM_MS = 250;
const LONGEST_WORD = 8 * 1024 * 1024;
/** Whoever reads takes a word within seconds; what nobody takes must not lie in everybody's store. */
const KEPT_MS = 15_000;
/** A reader that does not keep up misses notices. */
const LONGEST_QUEUE = 256 * 1024;

export interface Relay extends Reader {
  /** Says nothing any more, not even that it is the end. */
  leave(): void;
}

/** The holder's end: what is written here is read by the client at another replica, in order. */
export function createRelay({ cache, mailbox, clock }: RelayParts, place: Place, attempt: string): Relay {
  let queue: [string, string][] = [];
  let bytes = 0;
  let number = 0;
  let beats = 0;
  let busy = false;
  let over = false;
  /** Whoever read has left: nothing is told any more, not even the end. */
  let unread = false;
  let cancelBeat: Cancel = () => undefined;

  function beat(): void {
    beats += 1;
    cache.set(aliveOf(attempt), String(beats), ALIVE_MS).catch(() => undefined);
    cancelBeat = clock.timer(BEAT_MS, beat);
  }
  beat();
  const stop = mailbox.wait(place, `left:${attempt}`, leave);

  function leave(): void {
    unread = true;
    queue = [];
    close();
  }

  function close(): void {
    over = true;
    cancelBeat();
    stop();
  }

  async function flush(): Promise<void> {
    if (busy) return;
    busy = true;
    while (!unread) {
      const word = wordOf({ events: queue, over });
      // More than a word may be: nothing can follow it.
      if (word.tooLarge) close();
      const isLast = over;
      queue = [];
      bytes = 0;
      try {
        const text = JSON.stringify(word);
        await mailbox.post(place, `relay:${attempt}:${number}`, text, { keptMs: KEPT_MS });
      } catch {
        // The store does not answer. What is missing is missed for good: whoever reads sees no sign of life any more.
        close();
        return;
      }
      number += 1;
      if (isLast) return;
      await new Promise<void>((resolve) => clock.timer(CALM_MS, resolve));
      if (queue.length === 0 && !over) break;
    }
    busy = false;
  }

  function write(text: string, id = ''): void {
    if (over) return;
    queue.push([text, id]);
    bytes += text.length;
    void flush();
  }

  return {
    // Whether anybody reads it is known elsewhere: what is the end of it is left in the store as well.
    open: false,
    send: write,
    hint(text, id) {
      if (bytes <= LONGEST_QUEUE) write(text, id);
    },
    end() {
      if (over) return;
      close();
      void flush();
    },
    leave,
  };
}

function wordOf(word: RelayedWord): RelayedWord {
  const length = word.events.reduce((sum, [text, id]) => sum + text.length + id.length, 0);
  return length <= LONGEST_WORD ? word : { events: [], over: true, tooLarge: true };
}

export function aliveOf(attempt: string): string {
  return `alive:${attempt}`;
}
