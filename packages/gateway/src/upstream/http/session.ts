import { type Clock, withTimeout } from '@behalf/kernel';
import type { PresentedCredential } from '../bearer.ts';
import type { ServerRequests } from '../dialogue.ts';
import type { RequestDeadline } from '../requestDeadline.ts';
import type { HeaderValues, ServerClaims, UpstreamRequestOptions, UpstreamResponse } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { isSessionLost, isUnambiguousLoss, toRequestError } from './errors.ts';
import type { LegacyHandshake } from './legacyHandshake.ts';
import { POST_HEADERS, createHeaderCache, serializeRequest } from './serializeRequest.ts';

/** A legacy session. Kept small, because thousands of sessions can be idle. */
export interface LegacySession {
  readonly id: string | undefined;
  readonly claims: ServerClaims;
  /** Headers of a POST on this session, without the token of a bearer. */
  readonly headersFor: (caller: Pick<UpstreamRequestOptions, 'headers' | 'extraHeaders'>) => HeaderValues;
  /** Headers that identify the session and its protocol version. */
  readonly sessionHeaders: HeaderValues;
  /** Set to false permanently if the server offers no GET stream. */
  offersStream: boolean;
}

export function createLegacySession(
  { sessionId, claims }: LegacyHandshake,
  configured: HeaderValues,
): LegacySession {
  const sessionHeaders = {
    'mcp-protocol-version': claims.protocolVersion,
    ...(sessionId !== undefined && { 'mcp-session-id': sessionId }),
  };
  return {
    id: sessionId,
    claims,
    headersFor: createHeaderCache(configured, { ...sessionHeaders, ...POST_HEADERS }),
    sessionHeaders,
    offersStream: true,
  };
}

export interface SessionRequest {
  readonly id: number;
  readonly body: string;
  readonly options: UpstreamRequestOptions;
  readonly deadline: RequestDeadline;
  readonly serverRequests?: ServerRequests | undefined;
}

/** The current session of an upstream and its replacement when the server loses it. */
export function createLegacySessions(
  first: LegacySession,
  parts: {
    readonly nextId: () => number;
    readonly open: (credential: PresentedCredential) => Promise<LegacySession>;
    /** Ends a session at the server. */
    readonly retire: (session: LegacySession) => void;
    readonly onRenewed: () => void;
    readonly sendOn: (session: LegacySession, request: SessionRequest) => Promise<UpstreamResponse>;
  },
) {
  const { nextId, open, retire, onRenewed, sendOn } = parts;
  let current = first;
  let renewal: Promise<LegacySession> | undefined;

  /** Replaces a lost session. Concurrent callers share one handshake. `shouldRetire`: the server may still know it. */
  function renew(
    lostSession: LegacySession,
    credential: PresentedCredential,
    shouldRetire: boolean,
  ): Promise<LegacySession> {
    // Another caller has replaced it already.
    if (lostSession !== current) return Promise.resolve(current);
    renewal ??= open(credential)
      .then((session) => {
        current = session;
        if (shouldRetire) retire(lostSession);
        onRenewed();
        return session;
      })
      .finally(() => (renewal = undefined));
    return renewal;
  }

  /** Pings the session. Returns how the server rejected it, or undefined if it exists or the result is unclear. */
  async function probe(
    session: LegacySession,
    { options, deadline }: SessionRequest,
  ): Promise<UpstreamError | undefined> {
    const id = nextId();
    const { signal, timeoutMs, totalMs, headers, bearer } = options;
    const pingOptions = {
      signal,
      timeoutMs,
      totalMs,
      ...(headers && { headers }),
      ...(bearer && { bearer }),
    };
    try {
      const body = serializeRequest({ id, method: 'ping', params: {} });
      await sendOn(session, { id, body, options: pingOptions, deadline });
      return undefined;
    } catch (error) {
      // Without a token nothing was sent, so the state of the session is unknown.
      if (!(error instanceof UpstreamError)) throw error;
      return isSessionLost(error) ? error : undefined;
    }
  }

  return {
    get current() {
      return current;
    },
    renew,
    sendOn,
    /**
     * Sends a request. If the server does not know the session, the request did not run: it is sent again on a new
     * session. If the response is ambiguous, the session is probed first.
     */
    async send(request: SessionRequest): Promise<UpstreamResponse> {
      const session = current;
      try {
        return await sendOn(session, request);
      } catch (error) {
        if (!isSessionLost(error)) throw error;
        const sessionFailure = isUnambiguousLoss(error) ? error : await probe(session, request);
        if (!sessionFailure) throw toRequestError(error);
        const newSession = await renew(session, request.options, !isUnambiguousLoss(sessionFailure));
        try {
          return await sendOn(newSession, request);
        } catch (retryError) {
          throw isSessionLost(retryError) && !isUnambiguousLoss(retryError)
            ? toRequestError(retryError)
            : retryError;
        }
      }
    },
  };
}

/** How long a call waits for the server to respond to the GET stream. */
const MAX_OPEN_WAIT_MS = 1_000;
/** The stream stays open for further calls. */
const LINGER_MS = 30_000;

/** Keeps the GET stream of a session open while it is in use. */
export function createSessionGetStream(parts: {
  readonly clock: Clock;
  readonly current: () => LegacySession;
  /** Opens the stream. Calls `onOpenAttempted` when the server has responded. Returns a function that stops it. */
  readonly open: (session: LegacySession, onOpenAttempted: () => void) => () => void;
}) {
  const { clock, current, open } = parts;
  let useCount = 0;
  let isClosed = false;
  let stream: { readonly attempted: Promise<void>; readonly stop: () => void } | undefined;

  function start(session: LegacySession): void {
    stream?.stop();
    let stop: () => void = () => undefined;
    const responded = new Promise<void>((resolve) => {
      stop = open(session, resolve);
    });
    // The time starts here, so that a server that never responds delays the first call only.
    stream = { attempted: withTimeout(clock, MAX_OPEN_WAIT_MS, responded, () => undefined), stop };
  }

  function stop(): void {
    stream?.stop();
    stream = undefined;
  }

  /** Keeps the stream open until the returned function is called, which is idempotent. */
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
    /** Opens the stream before a call during which the server may send requests on it. */
    async withStream<T>(work: () => Promise<T>): Promise<T> {
      if (!current().offersStream) return work();
      const release = acquire();
      try {
        if (stream) await stream.attempted;
        return await work();
      } finally {
        clock.timer(LINGER_MS, release);
      }
    },
    /** Moves an open stream to a new session. */
    switchTo(session: LegacySession): void {
      if (stream) start(session);
    },
    close(): void {
      isClosed = true;
      stop();
    },
  };
}
