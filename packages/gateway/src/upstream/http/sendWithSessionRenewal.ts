import type { ServerRequests } from '../serverRequests.ts';
import type { UpstreamResponse, UpstreamRequestOptions } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import type { RequestDeadline } from './withDeadline.ts';
import type { LegacySession, LegacySessions } from './session.ts';
import { toRequestError, isSessionLost, isUnambiguousLoss } from './sessionLoss.ts';
import { serializeRequest } from './serializeRequest.ts';

export interface SessionSendParts {
  readonly sessions: LegacySessions;
  readonly nextId: () => number;
  /** Sends one request on a session and reads its answer. */
  readonly sendOn: (session: LegacySession, request: SessionRequest) => Promise<UpstreamResponse>;
}

export interface SessionRequest {
  readonly id: number;
  readonly body: string;
  readonly options: UpstreamRequestOptions;
  readonly deadline: RequestDeadline;
  readonly serverRequests?: ServerRequests | undefined;
}

/**
 * Sends, and once more on a new session when the server does not know this one: then nothing ran. Where it does not say
 * so in as many words, the session itself is asked first.
 */
export async function sendWithSessionRenewal(
  parts: SessionSendParts,
  request: SessionRequest,
): Promise<UpstreamResponse> {
  const { sessions, sendOn } = parts;
  const session = sessions.current;
  try {
    return await sendOn(session, request);
  } catch (error) {
    if (!isSessionLost(error)) throw error;
    const sessionFailure = isUnambiguousLoss(error) ? error : await probeSession(parts, session, request);
    if (!sessionFailure) throw toRequestError(error);
    const newSession = await sessions.renew(session, request.options, {
      retire: !isUnambiguousLoss(sessionFailure),
    });
    try {
      return await sendOn(newSession, request);
    } catch (retryError) {
      throw isSessionLost(retryError) && !isUnambiguousLoss(retryError)
        ? toRequestError(retryError)
        : retryError;
    }
  }
}

/** A ping tells whether the session is lost: gives how it was refused, and nothing when it lives. In doubt it lives. */
async function probeSession(
  { nextId, sendOn }: SessionSendParts,
  session: LegacySession,
  { options, deadline }: SessionRequest,
): Promise<UpstreamError | undefined> {
  const id = nextId();
  const ping = {
    id,
    method: 'ping',
    params: {},
    meta: undefined,
    envelope: undefined,
    requestedLogLevel: false,
  };
  const { signal, timeoutMs, totalMs, headers, bearer } = options;
  const pingOptions = { signal, timeoutMs, totalMs, ...(headers && { headers }), ...(bearer && { bearer }) };
  try {
    await sendOn(session, { id, body: serializeRequest(ping), options: pingOptions, deadline });
    return undefined;
  } catch (error) {
    // Without a token nothing was asked, so nothing is known of the session.
    if (!(error instanceof UpstreamError)) throw error;
    return isSessionLost(error) ? error : undefined;
  }
}
