import { type Clock, type SendResponse, withTimeout } from '@behalf/kernel';
import { type PresentedCredential, sendWithCredential } from '../bearer.ts';
import type { ServerRequests } from '../dialogue.ts';
import { isObject } from '../messages.ts';
import { type ServerRequestResponder, toChangeNotification } from '../notifications.ts';
import { createServerLog } from '../serverLog.ts';
import type { RemoteTarget } from '../target.ts';
import type { ServerNotification, UpstreamParts } from '../upstream.ts';
import type { LegacySession } from './session.ts';
import { maintainStream } from './stream.ts';

/** A server that has not begun to answer by then is not waited for. */
const MAX_OPEN_WAIT_MS = 1_000;
/** Another call may follow soon. */
const LINGER_MS = 30_000;

interface SessionGetStream {
  /** Keeps it open until the release, which is idempotent. */
  acquire(): () => void;
  /** The same for a call on whose account a server may ask something there: open before the call is sent. */
  withStream<T>(work: () => Promise<T>): Promise<T>;
  /** Another session is in the place of the one before. */
  switchTo(session: LegacySession): void;
  /** For good. */
  close(): void;
}

interface SessionGetStreamParts {
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

interface LegacyStreamOptions {
  readonly session: LegacySession;
  /** What is presented at the server, as it stands now. */
  readonly getCredential: () => PresentedCredential;
  readonly onNotification: (notification: ServerNotification) => void;
  readonly responder: ServerRequestResponder;
  /** Who may be asked what the server asks here, at this moment. */
  readonly findServerRequests: () => ServerRequests | undefined;
  /** It is open, or not any more. */
  readonly onOpenChange: (isOpen: boolean) => void;
  /** For the log. */
  readonly server: string;
  /** The server has answered, whatever it answered; or it could not be asked. */
  readonly onOpenAttempted: () => void;
  /**
   * The server believes that another stream of ours holds the session: makes a new one in its place. False: not now, it is
   * tried again later.
   */
  readonly onConflict: () => boolean;
}

/** The GET stream of a session. What comes here belongs to nobody's request, so that no user ever sees it. */
export function maintainLegacyStream(
  target: RemoteTarget,
  parts: UpstreamParts,
  {
    session,
    getCredential,
    onNotification,
    responder,
    findServerRequests,
    onOpenChange,
    server,
    onOpenAttempted,
    onConflict,
  }: LegacyStreamOptions,
): () => void {
  const send = parts.network.sendTo(target);
  const serverLog = createServerLog({ clock: parts.clock, log: parts.log, server, owner: undefined });
  const getBaseHeaders = () => ({ ...target.headers, ...getCredential().headers, ...session.sessionHeaders });

  async function open(signal: AbortSignal, lastEventId: string): Promise<SendResponse | null> {
    if (!session.offersStream) return null;
    const resumeHeaders = lastEventId === '' ? {} : { 'last-event-id': lastEventId };
    const streamHeaders = { ...getBaseHeaders(), accept: 'text/event-stream', ...resumeHeaders };
    const request = { method: 'GET', url: target.url, headers: streamHeaders, signal } as const;
    const reply = await sendWithCredential(send, request, getCredential().bearer);
    const { status } = reply;
    if (status === 200 && reply.isEventStream) return reply;
    void reply.discard();
    if (status === 429 || status >= 500 || (status === 409 && !onConflict()))
      throw new Error('Stream temporarily unavailable');
    session.offersStream = false;
    if (status !== 404 && status !== 405 && status !== 406 && status !== 409) {
      parts.log('upstream_stream_refused', { server, status });
    }
    return null;
  }

  const stop = maintainStream(parts, {
    idleTimeoutMs: target.sseReadTimeoutMs,
    open: (signal, lastEventId) => open(signal, lastEventId).finally(onOpenAttempted),
    onOpenChange,
    onMessage(message) {
      if (message.method === undefined) return true;
      if (message.id !== undefined) {
        responder.respond(message, {
          headers: { ...getBaseHeaders(), ...POST_HEADERS },
          serverRequests: findServerRequests(),
        });
      } else if (message.method === 'notifications/message') {
        serverLog.receive(isObject(message.params) ? message.params : {}, []);
      } else {
        const notification = toChangeNotification(message);
        if (notification) onNotification(notification);
      }
      return true;
    },
  });
  return () => {
    stop();
    serverLog.close();
  };
}

const POST_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
