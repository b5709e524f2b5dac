import { within, type Clock } from '@behalf/kernel';
import type { Session } from './session.ts';

/** A server that has not begun to answer by then is not waited for. */
const OPENING_MS = 1_000;
/** Another call may follow soon. */
const LINGER_MS = 30_000;

export interface SessionStream {
  /** Keeps it open until the release, which is idempotent. */
  need(): () => void;
  /** The same for a call on whose account a server may ask something there: open before the call is sent. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Another session is in the place of the one before. */
  follow(session: Session): void;
  /** For good. */
  end(): void;
}

export interface SessionStreamParts {
  readonly clock: Clock;
  readonly current: () => Session;
  /** Opens it until it is stopped; `onTried` once the server has answered, whatever it answered. */
  readonly open: (session: Session, onTried: () => void) => () => void;
}

/** The GET stream of a session, which is open only while somebody needs it. */
export function createSessionStream({ clock, current, open }: SessionStreamParts): SessionStream {
  let needs = 0;
  let over = false;
  let stream: { readonly tried: Promise<void>; readonly stop: () => void } | undefined;

  function start(session: Session): void {
    stream?.stop();
    let stop: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      stop = open(session, resolve);
    });
    // Counted from here: a server that does not begin to answer holds up who came first, and not each call after.
    stream = { tried: within(clock, OPENING_MS, answered, () => undefined), stop };
  }

  function stop(): void {
    stream?.stop();
    stream = undefined;
  }

  function need(): () => void {
    if (over) return () => undefined;
    needs += 1;
    if (!stream) start(current());
    let released = false;
    return () => {
      if (released) return;
      released = true;
      needs -= 1;
      if (needs === 0) stop();
    };
  }

  return {
    need,
    async during(work) {
      if (!current().offersStream) return work();
      const release = need();
      try {
        if (stream) await stream.tried;
        return await work();
      } finally {
        clock.timer(LINGER_MS, release);
      }
    },
    follow(session) {
      if (stream) start(session);
    },
    end() {
      over = true;
      stop();
    },
  };
}
