import type { Clock, Random, SendResponse } from '@behalf/kernel';
import { parseRpcMessages, type JsonRpcMessage } from '../messages.ts';
import { createSseParser } from './sseParser.ts';

const BASE_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
const MIN_RETRY_MS = 100;

interface StreamSource {
  /** Opens the stream. Returns null if the server offers none. Throws if a retry may succeed. */
  open(signal: AbortSignal, lastEventId: string): Promise<SendResponse | null>;
  /** Returns false to end the stream permanently. */
  onMessage(message: JsonRpcMessage): boolean;
  onOpenChange(isOpen: boolean): void;
  /** Maximum time without data. */
  readonly idleTimeoutMs: number;
}

/**
 * Keeps a stream of notifications open until it is stopped or the server offers none. Reconnects after the time that the
 * server requested or a back-off with full jitter, so that clients do not reconnect at once when a server restarts.
 * Returns a function that stops it.
 */
export function maintainStream(parts: { clock: Clock; random: Random }, source: StreamSource): () => void {
  const { clock, random } = parts;
  const stopController = new AbortController();
  let lastEventId = '';
  let retryMs: number | undefined;

  /** Returns whether data was received. Null: the stream ended permanently. */
  async function runOnce(): Promise<boolean | null> {
    const attemptController = new AbortController();
    const abortAttempt = () => attemptController.abort();
    stopController.signal.addEventListener('abort', abortAttempt);
    let cancelIdle = clock.timer(source.idleTimeoutMs, abortAttempt);
    let hasReceived = false;
    let isOpen = false;
    try {
      const reply = await source.open(attemptController.signal, lastEventId);
      if (!reply) return null;
      isOpen = true;
      source.onOpenChange(true);
      let isFinished = false;
      const parser = createSseParser(({ type, data }) => {
        if (type !== 'message' || data === '' || isFinished || stopController.signal.aborted) return;
        for (const message of parseMessagesOrEmpty(data)) if (!source.onMessage(message)) isFinished = true;
      });
      for await (const chunk of reply.chunks()) {
        cancelIdle();
        cancelIdle = clock.timer(source.idleTimeoutMs, abortAttempt);
        hasReceived = true;
        parser.push(chunk);
        lastEventId = parser.lastEventId;
        retryMs = parser.retryMs ?? retryMs;
        // The callback of the parser can set `isFinished`.
        // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition
        if (isFinished) return null;
      }
    } catch {
      // Every error leads to a retry.
    } finally {
      cancelIdle();
      stopController.signal.removeEventListener('abort', abortAttempt);
      attemptController.abort();
      if (isOpen) source.onOpenChange(false);
    }
    return hasReceived;
  }

  async function run(): Promise<void> {
    for (let failures = 0; !stopController.signal.aborted;) {
      const hasReceived = await runOnce();
      if (hasReceived === null) return;
      failures = hasReceived ? 0 : Math.min(failures + 1, 10);
      const jitter = random.uniform() * Math.min(MAX_RETRY_MS, BASE_RETRY_MS * 2 ** failures);
      const requestedMs = Math.min(retryMs ?? 0, MAX_RETRY_MS);
      await pause(Math.max(jitter, requestedMs, MIN_RETRY_MS));
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (stopController.signal.aborted) return resolve();
      const finishPause = () => {
        cancel();
        // The signal outlives many pauses. Without this its listeners would accumulate.
        stopController.signal.removeEventListener('abort', finishPause);
        resolve();
      };
      const cancel = clock.timer(ms, finishPause);
      stopController.signal.addEventListener('abort', finishPause);
    });
  }

  void run();
  return () => stopController.abort();
}

/** Skips invalid messages. No request waits for a response on this stream. */
function parseMessagesOrEmpty(data: string): readonly JsonRpcMessage[] {
  try {
    return parseRpcMessages(data);
  } catch {
    return [];
  }
}
