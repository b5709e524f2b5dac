import { withTimeout, type Clock } from '@behalf/kernel';
import type { LegacySession } from './session.ts';

/** A server that has not begun to answer by then is not waited for. */
const MAX_OPEN_WAIT_MS = 1_000;
/** Another call may follow soon. */
const LINGER_MS = 30_000;

export interface SessionGetStream {
  /** Keeps it open until the release, which is idempotent. */
  acquire(): () => void;
  /** The same for a call on whose account a server may ask something there: open before the call is sent. */
  withStream<T>(work: () => Promise<T>): Promise<T>;
  /** Another session is in the place of the one before. */
  switchTo(session: LegacySession): void;
  /** For good. */
  close(): void;
}

export interface SessionGetStreamParts {
  readonly clock: Clock;
  readonly current: () => LegacySession;
  /** Opens it until it is stopped; `onTried` once the server has answered, whatever it answered. */
  readonly open: (session: LegacySession, onOpenAttempted: () => void) => () => void;
}

/** The GET stream of a session, which is open only while somebody needs it. */
export function createSessionGetStream({ clock, current, open }: SessionGetStreamParts): SessionGetStream {
  let useCount = 0;
  let isClosed = false;
  let stream: { readonly attempted: Promise<void>; readonly stop: () => void } | undefined;

  function start(session: LegacySession): void {
    stream?.stop();
    let stop: () => void = () => undefined;
    const responded = new Promise<void>((resolve) => {
      stop = open(session, resolve);
    });
    // Counted from here: a server that does not begin to answer holds up who came first, and not each call after.
    stream = { attempted: withTimeout(clock, MAX_OPEN_WAIT_MS, responded, () => undefined), stop };
  }

  function stop(): void {
    stream?.stop();
    stream = undefined;
  }

  function acquire(): () => void {
    if (isClosed) return () => undefined;
    useCount += 1;
    if (!stream) start(current());
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      useCount -= 1;
      if (useCount === 0) stop();
    };
  }

  return {
    acquire,
    async withStream(work) {
      if (!current().offersStream) return work();
      const release = acquire();
      try {
        if (stream) await stream.attempted;
        return await work();
      } finally {
        clock.timer(LINGER_MS, release);
      }
    },
    switchTo(session) {
      if (stream) start(session);
    },
    close() {
      isClosed = true;
      stop();
    },
  };
}
