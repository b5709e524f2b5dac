import type { Clock, Random, SendReply } from '@behalf/kernel';
import { readMessages, type Message } from './readAnswer.ts';
import { createSseParser } from './sseParser.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
const SHORTEST_WAIT_MS = 100;

export interface StreamSource {
  /** Opens the stream. Null: the server offers none. Throws when it may be tried again. */
  open(signal: AbortSignal, lastEventId: string): Promise<SendReply | null>;
  /** Every message that comes in; false ends the stream for good. */
  onMessage(message: Message): boolean;
  /** It is open, or not any more. */
  onOpen?(isOpen: boolean): void;
  /** The longest silence. */
  readonly idleMs: number;
}

/**
 * Keeps a stream of notifications open until it is stopped or the server offers none. It comes back after the time the
 * server asks for, or with full jitter, so that many of ours do not return at once when a server restarts.
 */
export function keepStream(parts: { clock: Clock; random: Random }, source: StreamSource): () => void {
  const { clock, random } = parts;
  const stopped = new AbortController();
  let lastEventId = '';
  let retryMs: number | undefined;

  /** True when something came in. */
  async function once(): Promise<boolean | null> {
    const over = new AbortController();
    const end = () => over.abort();
    stopped.signal.addEventListener('abort', end);
    let cancelIdle = clock.timer(source.idleMs, end);
    let heard = false;
    let isOpen = false;
    try {
      const reply = await source.open(over.signal, lastEventId);
      if (!reply) return null;
      isOpen = true;
      source.onOpen?.(true);
      let finished = false;
      const parser = createSseParser(({ type, data }) => {
        if (type !== 'message' || data === '' || finished || stopped.signal.aborted) return;
        for (const message of messagesOf(data)) if (!source.onMessage(message)) finished = true;
      });
      for await (const chunk of reply.chunks()) {
        cancelIdle();
        cancelIdle = clock.timer(source.idleMs, end);
        heard = true;
        parser.push(chunk);
        lastEventId = parser.lastEventId;
        retryMs = parser.retryMs ?? retryMs;
        // Set by the parser's callback.
        // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition
        if (finished) return null;
      }
    } catch {
      // Whatever it was, the answer is to try again later.
    } finally {
      cancelIdle();
      stopped.signal.removeEventListener('abort', end);
      over.abort();
      if (isOpen) source.onOpen?.(false);
    }
    return heard;
  }

  async function run(): Promise<void> {
    for (let failures = 0; !stopped.signal.aborted;) {
      const heard = await once();
      if (heard === null) return;
      failures = heard ? 0 : Math.min(failures + 1, 10);
      const jitter = random.uniform() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
      const asked = Math.min(retryMs ?? 0, LONGEST_WAIT_MS);
      await pause(Math.max(jitter, asked, SHORTEST_WAIT_MS));
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (stopped.signal.aborted) return resolve();
      const leave = () => {
        cancel();
        // The signal lives as long as the stream is wanted, over any number of pauses.
        stopped.signal.removeEventListener('abort', leave);
        resolve();
      };
      const cancel = clock.timer(ms, leave);
      stopped.signal.addEventListener('abort', leave);
    });
  }

  void run();
  return () => stopped.abort();
}

/** What cannot be read on a stream of notifications is stepped over: it answers nobody. */
function messagesOf(data: string): readonly Message[] {
  try {
    return readMessages(data);
  } catch {
    return [];
  }
}
