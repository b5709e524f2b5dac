import type { JsonObject } from '@behalf/gateway';
import type { Cancel, Clock } from '@behalf/kernel';
import type { Mailbox, SessionKey } from '../session/mailbox.ts';
import type { AttachedRequest } from './suspendedCall.ts';

/** What a server said besides during a call. */
export interface BufferedProgress {
  /** Only the last: whoever hears it late has missed nothing. */
  readonly progress?: JsonObject;
  readonly logs: readonly JsonObject[];
}

export interface ProgressRelayParts {
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly clock: Clock;
}

/** A word to another replica is a write to the store: what comes close together is one. */
const BATCH_MS = 250;
/** Of what comes in one such time. A server that writes more loses what is over: the store is everybody's. */
const MAX_LOGS = 50;
const MAX_PROGRESS_LENGTH = 64 * 1024;

/** Tells a request that waits at another replica what the server says, word by word. */
export interface ProgressRelay extends Required<Pick<AttachedRequest, 'onProgress' | 'onLog'>> {
  /** What was not told yet: it goes with the result. Nothing is told any more. */
  drain(): BufferedProgress | undefined;
}

export function createProgressRelay(
  { mailbox, clock }: ProgressRelayParts,
  sessionKey: SessionKey,
  attempt: string,
): ProgressRelay {
  let progress: JsonObject | undefined;
  let logs: JsonObject[] = [];
  let size = 0;
  let sequence = 0;
  let timer: Cancel | undefined;
  let isClosed = false;

  function takeBuffered(): BufferedProgress | undefined {
    timer?.();
    timer = undefined;
    if (progress === undefined && logs.length === 0) return undefined;
    const buffered = { ...(progress && { progress }), logs };
    progress = undefined;
    logs = [];
    size = 0;
    return buffered;
  }

  function flush(): void {
    const buffered = takeBuffered();
    if (!buffered) return;
    mailbox.post(sessionKey, messageName(attempt, sequence), JSON.stringify(buffered)).catch(() => undefined);
    sequence += 1;
  }

  function scheduleFlush(): void {
    if (!isClosed) timer ??= clock.timer(BATCH_MS, flush);
  }

  return {
    onProgress(params) {
      if (JSON.stringify(params).length > MAX_PROGRESS_LENGTH) return;
      progress = params;
      scheduleFlush();
    },
    onLog(params) {
      const length = JSON.stringify(params).length;
      if (logs.length >= MAX_LOGS || size + length > MAX_PROGRESS_LENGTH) return;
      size += length;
      logs.push(params);
      scheduleFlush();
    },
    drain() {
      isClosed = true;
      return takeBuffered();
    },
  };
}

/** The other end of it. Returns how to stop. */
export function receiveProgress(
  { mailbox }: Pick<ProgressRelayParts, 'mailbox'>,
  sessionKey: SessionKey,
  attempt: string,
  onBuffered: (buffered: BufferedProgress) => void,
): () => void {
  let sequence = 0;
  const waitNext = (): (() => void) =>
    mailbox.wait(
      sessionKey,
      messageName(attempt, sequence),
      (message) => {
        sequence += 1;
        stop = waitNext();
        onBuffered(JSON.parse(message) as BufferedProgress);
      },
      { shouldPoll: true },
    );
  let stop = waitNext();
  return () => stop();
}

function messageName(attempt: string, sequence: number): string {
  return `progress:${attempt}:${sequence}`;
}
